"""Ask your own notes: exact citations, and NO ANSWER when the notes hold none."""

__version__ = "0.1.0"
