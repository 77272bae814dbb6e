"""Where a text may be cut without breaking what a reader sees as one character (UAX #29)."""

from __future__ import annotations

import functools
import unicodedata
from typing import Any

_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


def cluster_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets in (start, end] at which a grapheme cluster begins, `start` taken as the beginning of one.

    `end` counts only where it lies before the end of the text and does not cut a cluster.
    """
    # One code point past the end settles whether a cluster begins at the end itself.
    found = _cluster().finditer(text, start, min(len(text), end + 1))
    return [match.start() for match in found if match.start() > start]


def begins_cluster(text: str, at: int) -> bool:
    """Whether a cluster begins at an offset that follows white space or punctuation."""
    before = _cluster().match(text, at - 1, at + 1)
    return before is None or before.end() == at


def has_visible(text: str) -> bool:
    """Whether there is anything but white space, controls and invisible format characters."""
    return any(unicodedata.category(character) not in _UNSEEN for character in text)


@functools.cache
def _cluster() -> Any:
    """Compiled when a text is cut: a question that only reads the index need not load the library."""
    import regex  # type: ignore[import-untyped]

    return regex.compile(r"\X")
