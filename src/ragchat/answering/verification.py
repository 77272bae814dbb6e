"""A citation held against its file as it is now: exact, moved, changed, or gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ragchat.documents.document import Document, Locator
from ragchat.documents.reader import open_reader
from ragchat.index.intake import is_unchanged
from ragchat.index.protocol import Index
from ragchat.index.scan import note_path
from ragchat.settings import NotesSettings

Standing = Literal["exact", "moved", "changed", "gone"]
_MEGABYTE = 1_000_000
_TELLING = 8
"""So many characters of a quote tell where it was, where they stand once; fewer stand anywhere."""
_STRETCH = 4
"""An edited passage is at most so many times as long as it was."""


@dataclass(frozen=True, slots=True)
class VerifiedSpan:
    """What became of cited words.

    standing: exact (they stand where the citation says), moved (elsewhere in the note), changed (nowhere in
        it), gone (there is no such note, or it cannot be read).
    text: the note now, "" where it is gone; start, end: where in it the words are, or what took their place.
    locators: the pages, rows and the like of that text.
    """

    standing: Standing
    quote: str
    text: str
    start: int
    end: int
    locators: tuple[Locator, ...] = ()

    @property
    def now(self) -> str:
        """The words at that place now."""
        return self.text[self.start : self.end]


def verify_span(
    folder: Path, notes: NotesSettings, index: Index, document: str, start: int, end: int, quote: str = ""
) -> VerifiedSpan:
    """Read the note and compare. quote: the words as cited; "": as they were indexed at [start, end).

    Raises UsageError, StorageFailed, IndexCorrupt as the index does.
    """
    indexed = index.document_text(document) or ""
    quote = quote or indexed[start:end]
    path = note_path(folder, document)
    known = index.sources().get(document)
    if known and indexed[start:end] == quote and is_unchanged(path, known.digest):
        # The same bytes give the same text: a scan need not be recognised again.
        return VerifiedSpan("exact", quote, indexed, start, end, index.document_locators(document))
    with open_reader(notes) as read:
        found = read(path, document, max_bytes=int(notes.max_file_mb * _MEGABYTE))
    if not isinstance(found, Document):
        return VerifiedSpan("gone", quote, "", 0, 0)
    return replace(locate(quote, start, end, indexed, found.text), locators=found.locators)


def locate(quote: str, start: int, end: int, before: str, now: str) -> VerifiedSpan:
    """Where cited words are in a text of now. before: the text in which they stood at [start, end)."""
    if end <= len(now) and now[start:end] == quote:
        return VerifiedSpan("exact", quote, now, start, end)
    same_start = _common(before, now)
    rest = min(len(before), len(now)) - same_start
    same_end = _common(before[len(before) - rest :][::-1], now[len(now) - rest :][::-1])

    def placed(position: int) -> int:
        """Where a position of the text before is now; what is inside the edit goes to its edges."""
        if position <= same_start:
            return position
        return max(same_start, position + len(now) - len(before))

    expected = min(placed(start), len(now))
    later = now.find(quote, expected)
    sooner = now.rfind(quote, 0, expected + len(quote))
    places = [place for place in (sooner, later) if place >= 0]
    if quote and places:
        at = min(places, key=lambda place: abs(place - expected))
        return VerifiedSpan("moved", quote, now, at, at + len(quote))
    begins_before, ends_behind = start <= same_start, end >= len(before) - same_end
    begin, stop = (-1, -1) if begins_before and ends_behind else _what_is_left(quote, now)
    if begin < 0:
        begin = min(start, same_start, len(now))
        stop = placed(end) if ends_behind else len(now) - same_end
    return VerifiedSpan("changed", quote, now, begin, min(max(begin, stop), len(now)))


def _what_is_left(quote: str, now: str) -> tuple[int, int]:
    """The range from what is left of the quote's beginning to what is left of its end; (-1, -1) for nothing.

    Pieces of a few words stand in many places: as much of the beginning is looked for as there is, and the
    end only behind it.
    """
    head = _longest(len(quote), lambda length: quote[:length] in now)
    begin = now.find(quote[:head])
    if head < min(_TELLING, len(quote)) or now.count(quote[:head]) != 1:
        return -1, -1
    rest = now[begin : begin + _STRETCH * len(quote)]
    tail = _longest(len(quote), lambda length: quote[len(quote) - length :] in rest)
    if tail < min(_TELLING, len(quote)):
        return begin, begin + len(quote)
    return begin, begin + rest.rfind(quote[len(quote) - tail :]) + tail


def _longest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest number up to `most` that holds, where every smaller one does."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        low, most = (middle, most) if holds(middle) else (low, middle - 1)
    return low


def _common(one: str, other: str) -> int:
    """Length of the common beginning, by halving: comparing slices is far quicker than characters."""
    return _longest(min(len(one), len(other)), lambda length: one[:length] == other[:length])
