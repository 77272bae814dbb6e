"""How fast indexing goes, and how long it will take, from what was told in the last half minute."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragchat.index.progress import IndexProgress

_WINDOW = 30.0
"""Seconds: long enough to be steady, short enough to follow a run that slows down."""
_LEAST = 2.0
"""Seconds that must have passed before a rate means anything."""


@dataclass(frozen=True, slots=True)
class Rate:
    """documents, chunks: a second. left: seconds to the end, None where that cannot be told."""

    documents: float
    chunks: float
    left: float | None


class Pace:
    """Takes what indexing tells, with the time at which it did."""

    def __init__(self) -> None:
        self.progress: IndexProgress | None = None
        self._told: deque[tuple[float, int, int]] = deque()

    def note(self, progress: IndexProgress, now: float) -> None:
        """now: seconds of a clock that never goes back."""
        before, self.progress = self.progress, progress
        if before is None or before.phase != progress.phase:
            self._told.clear()
        self._told.append((now, _done(progress), progress.chunks_embedded))
        while self._told[-1][0] - self._told[0][0] > _WINDOW:
            self._told.popleft()

    def end(self) -> None:
        """Nothing goes on any more."""
        self.progress = None
        self._told.clear()

    def rate(self) -> Rate | None:
        """None before there is anything to go by."""
        if self.progress is None or len(self._told) < 2:
            return None
        (began, documents, chunks), (now, documents_now, chunks_now) = self._told[0], self._told[-1]
        if (passed := now - began) < _LEAST:
            return None
        per_second = (documents_now - documents) / passed
        remaining = self.progress.documents_total - documents_now
        left = remaining / per_second if per_second > 0 and self.progress.documents_total else None
        return Rate(per_second, (chunks_now - chunks) / passed, left)


def _done(progress: IndexProgress) -> int:
    return progress.documents_read if progress.phase == "reading" else progress.documents_done


def duration(seconds: float) -> str:
    """ "8 s", "3 min", "1 h 20 min"."""
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
