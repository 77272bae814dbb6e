"""Makes what the documentation shows from the program itself: run `python -m docs.make`."""
