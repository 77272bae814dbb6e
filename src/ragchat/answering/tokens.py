"""How many tokens a text may take, without the model's own tokenizer: bounds that err on the safe side."""

from __future__ import annotations

import math
import re

_WORD_OR_MARK = re.compile(r"[A-Za-z]+|[^\sA-Za-z]|\n")
_LETTERS_PER_TOKEN = 3
"""English takes about four letters a token, names and other languages in Latin letters about three."""
_WORD = re.compile(r"[^\W\d_]+")
_CHARACTERS_PER_TOKEN = 8
"""Vocabularies hold long words whole, and of scripts without spaces up to this many characters."""
_WORDS_PER_TOKEN = 1.25
"""A word takes a token, but for the few that a vocabulary holds in pairs."""


def estimate_tokens(text: str) -> int:
    """A bound from above for the tokenizers of current models.

    A digit, a punctuation mark and a line end count as one token each; a letter outside ASCII as one less
    than its bytes in UTF-8, as for a byte-level vocabulary that knows pairs of bytes at best.
    """
    return sum(_tokens_of(piece) for piece in _WORD_OR_MARK.findall(text))


def fewest_tokens(text: str) -> int:
    """A bound from below: a server that reports fewer has not read the whole text."""
    words = sum(math.ceil(len(word) / _CHARACTERS_PER_TOKEN) for word in _WORD.findall(text))
    return int(words / _WORDS_PER_TOKEN)


def _tokens_of(piece: str) -> int:
    if piece.isascii():
        return math.ceil(len(piece) / _LETTERS_PER_TOKEN)
    return max(1, len(piece.encode("utf-8", "surrogatepass")) - 1)
