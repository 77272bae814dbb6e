"""Find words in a text: every place, in order; capitals count only where they are typed."""

from __future__ import annotations

import re
from bisect import bisect_left

_MOST = 20_000
"""Places: what stands everywhere helps nobody, and a file of many megabytes must not stall a key."""


def places_of(needle: str, text: str) -> list[tuple[int, int]]:
    """The half-open ranges of the text at which the needle stands; white space matches any white space."""
    words = needle.split()
    if not words:
        return []
    flags = re.NOFLAG if any(character.isupper() for character in needle) else re.IGNORECASE
    found: list[tuple[int, int]] = []
    for match in re.finditer(r"\s+".join(map(re.escape, words)), text, flags):
        found.append(match.span())
        if len(found) == _MOST:
            break
    return found


def next_place(places: list[tuple[int, int]], offset: int) -> int:
    """Which of them is the first at or behind the offset; the first of all where none is."""
    at = bisect_left(places, (offset, -1))
    return at if at < len(places) else 0
