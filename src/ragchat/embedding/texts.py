"""What every encoder needs done to a text before it reads it."""

from __future__ import annotations

import re
from collections.abc import Callable

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"\s")


def readable(text: str) -> str:
    """The text with lone surrogates (from undecodable file names, say) replaced by U+FFFD.

    They have no UTF-8 form, so neither a tokenizer nor a server takes them. Length in code points is kept.
    """
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def halves(text: str) -> tuple[str, str]:
    """Cut at the white space nearest to the middle; in the middle where there is none near it."""
    middle = len(text) // 2
    reach = len(text) // 4
    spaces = [match.start() for match in _SPACE.finditer(text, middle - reach, middle + reach)]
    cut = min(spaces, key=lambda at: abs(at - middle)) if spaces else middle
    return text[:cut], text[cut:]


def pieces(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The text cut in halves until every piece fits; joined they are the text again.

    A single character is not cut further, even if it does not fit.
    """
    if len(text) <= 1 or fits(text):
        return [text]
    left, right = halves(text)
    return pieces(left, fits) + pieces(right, fits)
