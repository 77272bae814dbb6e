"""A whole document with ranges marked: only the rows on the screen are ever drawn."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ragchat.tui import page_keys
from ragchat.tui.finding import next_place, places_of
from ragchat.tui.wrapping import Rows, drawn, wrap

Span = tuple[int, int]


class DocumentView(ScrollView, can_focus=True):
    """Line numbers, wrapped text, the range in the middle; bars in the gutter tell ranges without colour.

    Other ranges may be marked more quietly, and what a search has found.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "document-view--gutter",
        "document-view--mark",
        "document-view--quote",
        "document-view--other",
        "document-view--found",
    }

    BINDINGS: ClassVar[list[BindingType]] = page_keys.DOCUMENT

    def __init__(self) -> None:
        super().__init__(id="document")
        self._text = ""
        self._start = self._end = 0
        self._first_number = 1
        self._marks: Mapping[int, str] = {}
        self._mark_starts: list[int] = []
        self._others: Sequence[Span] = ()
        self._found: list[Span] = []
        self._margin = 0
        self._rows: Rows = wrap("", 2)
        self._width = 0

    def show(
        self,
        text: str,
        start: int,
        end: int,
        *,
        first_number: int = 1,
        marks: Mapping[int, str] | None = None,
        others: Sequence[Span] = (),
    ) -> None:
        """A text with [start, end) marked. first_number: what the first line is called.

        marks: offset -> the page, slide or the like that begins there, told at the right edge; in order.
        others: ranges that are marked too.
        """
        self._text, self._start, self._end = text, start, end
        self._first_number = first_number
        self._marks = marks or {}
        self._mark_starts = list(self._marks)
        self._others, self._found = others, []
        self._margin = max(map(cell_len, self._marks.values()), default=-1) + 1
        self._width = 0
        self._lay_out()
        self.centre()

    def mark(self, start: int, end: int) -> None:
        """Mark another range of the same text, and bring it into view."""
        self._start, self._end = start, end
        self.refresh()
        self.centre()

    def find(self, words: str) -> int:
        """Mark every place of the words; returns how many there are."""
        self._found = places_of(words, self._text)
        self.refresh()
        return len(self._found)

    def first_found_from_here(self) -> int:
        """Which of the places is the first at or below the top of the view."""
        return next_place(self._found, self.top)

    def reveal_found(self, at: int) -> None:
        """Bring one of the places to the middle."""
        self.reveal(*self._found[at])

    def centre(self) -> None:
        """Bring the range to the middle; its beginning, where it is taller than the view."""
        self.reveal(self._start, self._end)

    def reveal(self, start: int, end: int) -> None:
        """Bring a range of the text to the middle."""
        first, last = self._rows.at(start), self._rows.at(max(start, end - 1))
        height = max(1, self.size.height)
        space = max(0, height - (last - first + 1)) // 2
        self.scroll_to(y=max(0, first - min(space, height // 2)), animate=False, force=True)

    @property
    def _inner(self) -> int:
        """Cells beside the scrollbar."""
        return self.scrollable_content_region.width

    @property
    def top(self) -> int:
        """The code point at which the first visible row begins."""
        row = min(self.scroll_offset.y, len(self._rows) - 1)
        return self._rows.starts[row]

    def line_of(self, offset: int) -> int:
        """The number of the line in which a code point stands, as editors count."""
        return self._rows.numbers[self._rows.at(offset)] + self._first_number - 1

    def on_resize(self, _: Resize) -> None:
        """Wrap anew, the range still in the middle."""
        if self._inner != self._width:
            self._lay_out()
        self.call_after_refresh(self.centre)

    def render_line(self, y: int) -> Strip:
        """One row: number, mark, text."""
        row = y + self.scroll_offset.y
        base = self.rich_style
        if row >= len(self._rows):
            return Strip.blank(self.size.width, base)
        start, end = self._rows.starts[row], self._rows.ends[row]
        segments = [self._gutter(row, base)]
        edges = sorted({start, end, *(edge for span in self._spans(start, end) for edge in span)})
        for begin, stop in pairwise(edges):
            segments.append(Segment(drawn(self._text[begin:stop]), self._style_at(begin, base)))
        strip = Strip(segments).adjust_cell_length(self._inner - self._margin, base)
        if not self._margin:
            return strip
        told = self._mark_at(row)
        aside = Segment(f" {told:>{self._margin - 1}}", self._component("document-view--gutter", base))
        return Strip([*strip, aside]).adjust_cell_length(self.size.width, base)

    def _gutter(self, row: int, base: Style) -> Segment:
        start, end = self._rows.starts[row], self._rows.ends[row]
        marked = start < self._end and end > self._start
        other = any(start < stop and end > begin for begin, stop in self._others)
        number = str(self._rows.numbers[row] + self._first_number - 1) if self._rows.begins_line(row) else ""
        style = self._component("document-view--mark" if marked else "document-view--gutter", base)
        return Segment(f"{number:>{self._digits}} {'┃' if marked else '┇' if other else '│'} ", style)

    def _spans(self, start: int, end: int) -> list[Span]:
        """Every marked range that touches [start, end), cut to it."""
        first = bisect_right(self._found, (start, -1)) - 1
        last = bisect_left(self._found, (end, -1))
        spans = [(self._start, self._end), *self._others, *self._found[max(0, first) : last]]
        return [(max(start, begin), min(end, stop)) for begin, stop in spans if begin < end and stop > start]

    def _style_at(self, offset: int, base: Style) -> Style:
        at = bisect_right(self._found, (offset, len(self._text) + 1)) - 1
        if at >= 0 and self._found[at][0] <= offset < self._found[at][1]:
            return self._component("document-view--found", base)
        if self._start <= offset < self._end:
            return self._component("document-view--quote", base)
        if any(begin <= offset < stop for begin, stop in self._others):
            return self._component("document-view--other", base)
        return base

    def _mark_at(self, row: int) -> str:
        """What begins in this row, the break at its end included; "" for nothing."""
        following = self._rows.starts[row + 1] if row + 1 < len(self._rows) else len(self._text) + 1
        first = bisect_left(self._mark_starts, self._rows.starts[row])
        if first < len(self._mark_starts) and self._mark_starts[first] < following:
            return self._marks[self._mark_starts[first]]
        return ""

    @property
    def _digits(self) -> int:
        return len(str(self._rows.numbers[-1] + self._first_number - 1))

    def _component(self, name: str, base: Style) -> Style:
        return base + self.get_component_rich_style(name)

    def _lay_out(self) -> None:
        width = self._inner
        if width <= 0:
            return
        self._width = width
        lines = self._text.count("\n") + self._first_number
        self._rows = wrap(self._text, max(8, width - len(str(lines)) - 4 - self._margin))
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()
