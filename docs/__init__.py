"""The documentation, and `python -m docs.make`, which makes its pictures and tables."""
