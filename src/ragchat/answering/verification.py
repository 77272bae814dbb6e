"""A citation held against its file as it is now: exact, moved, changed, or gone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragchat.documents.document import Document
from ragchat.documents.reader import open_reader
from ragchat.index.protocol import Index
from ragchat.index.scan import note_path
from ragchat.settings import NotesSettings

Standing = Literal["exact", "moved", "changed", "gone"]
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class VerifiedSpan:
    """What became of cited words.

    standing: exact (they stand where the citation says), moved (elsewhere in the note), changed (nowhere in
        it), gone (there is no such note, or it cannot be read).
    text: the note now, "" where it is gone; start, end: where in it the words are, or what took their place.
    """

    standing: Standing
    quote: str
    text: str
    start: int
    end: int

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
    with open_reader(notes) as read:
        path = note_path(folder, document)
        found = read(path, document, max_bytes=int(notes.max_file_mb * _MEGABYTE))
    if not isinstance(found, Document):
        return VerifiedSpan("gone", quote, "", 0, 0)
    return locate(quote, start, end, indexed, found.text)


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
    begin = start if start <= same_start else min(expected, same_start)
    begin = min(begin, len(now))
    stop = placed(end) if end >= len(before) - same_end else len(now) - same_end
    return VerifiedSpan("changed", quote, now, begin, min(max(begin, stop), len(now)))


def _common(one: str, other: str) -> int:
    """Length of the common beginning, by halving: comparing slices is far quicker than characters."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
