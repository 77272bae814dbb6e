"""Where a text may be cut without breaking what a reader sees as one character (UAX #29)."""

from __future__ import annotations

import regex  # type: ignore[import-untyped]

_CLUSTER = regex.compile(r"\X")
_VISIBLE = regex.compile(r"[^\p{Z}\p{Cc}\p{Cf}]")


def cluster_starts(text: str, start: int, end: int) -> list[int]:
    """Offsets in (start, end] at which a grapheme cluster begins, `start` taken as the beginning of one.

    `end` counts only where it lies before the end of the text and does not cut a cluster.
    """
    # One code point past the end settles whether a cluster begins at the end itself.
    found = _CLUSTER.finditer(text, start, min(len(text), end + 1))
    return [match.start() for match in found if match.start() > start]


def begins_cluster(text: str, at: int) -> bool:
    """Whether a cluster begins at an offset that follows white space or punctuation."""
    before = _CLUSTER.match(text, at - 1, at + 1)
    return before is None or before.end() == at


def has_visible(text: str) -> bool:
    """Whether there is anything but white space, controls and invisible format characters."""
    return _VISIBLE.search(text) is not None
