"""Texts become unit vectors; one file per backend."""
