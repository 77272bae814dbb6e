"""Documents become chunks that can be quoted exactly."""
