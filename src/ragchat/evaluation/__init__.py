"""Retrieval is measured without a model: questions, metrics, statistics, calibration, reports."""
