"""Processes that measure on demand, each its one library; `serve` needs the standard library alone."""
