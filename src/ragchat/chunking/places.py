"""Where a person would look for an offset: its section, and what lies before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ragchat.documents.document import Document, Section, Span


class Breaks:
    """Ranges that no chunk may reach into or across."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._ends: list[int] = []
        self._starts: list[int] = []
        for span in sorted(span for span in spans if span.end > span.start):
            if self._ends and span.start <= self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], span.end)
            else:
                self._starts.append(span.start)
                self._ends.append(span.end)

    def outside(self, start: int, end: int) -> list[Span]:
        """What of [start, end) may be in a chunk, in order."""
        free: list[Span] = []
        position = start
        number = bisect_right(self._ends, start)
        while number < len(self._starts) and self._starts[number] < end:
            if self._starts[number] > position:
                free.append(Span(position, self._starts[number]))
            position = self._ends[number]
            number += 1
        if position < end:
            free.append(Span(position, end))
        return free

    def part(self, start: int, end: int) -> bool:
        """Whether one of them lies in [start, end)."""
        number = bisect_right(self._ends, start)
        return number < len(self._starts) and self._starts[number] < end

    def last_before(self, position: int) -> int:
        """Where the last of them before `position` ends; 0 where there is none."""
        number = bisect_right(self._ends, position)
        return self._ends[number - 1] if number else 0


def all_sections(document: Document) -> list[Section]:
    """The document's sections; text that none of them covers goes under the path of the one before."""
    sections: list[Section] = []
    position = 0
    path: tuple[str, ...] = ()
    for section in document.sections:
        if section.start > position:
            sections.append(Section(path, position, section.start, position))
        sections.append(section)
        position, path = section.end, section.path
    if position < len(document.text):
        sections.append(Section(path, position, len(document.text), position))
    return sections
