"""A whole document with one range marked: only the rows on the screen are ever drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.events import Resize
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ragchat.tui.wrapping import Rows, drawn, wrap


class DocumentView(ScrollView, can_focus=True):
    """Line numbers, wrapped text, the range in the middle; a bar in the gutter marks it without colour."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "document-view--gutter",
        "document-view--mark",
        "document-view--quote",
    }

    def __init__(self) -> None:
        super().__init__(id="document")
        self._text = ""
        self._start = self._end = 0
        self._first_number = 1
        self._marks: Mapping[int, str] = {}
        self._mark_starts: list[int] = []
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
    ) -> None:
        """A text with [start, end) marked. first_number: what the first line is called.

        marks: offset -> the page, slide or the like that begins there, told at the right edge; in order.
        """
        self._text, self._start, self._end = text, start, end
        self._first_number = first_number
        self._marks = marks or {}
        self._mark_starts = list(self._marks)
        self._margin = max(map(cell_len, self._marks.values()), default=-1) + 1
        self._width = 0
        self._lay_out()
        self.centre()

    def centre(self) -> None:
        """Bring the range to the middle; its beginning, where it is taller than the view."""
        first, last = self._rows.at(self._start), self._rows.at(max(self._start, self._end - 1))
        height = max(1, self.size.height)
        space = max(0, height - (last - first + 1)) // 2
        self.scroll_to(y=max(0, first - min(space, height // 2)), animate=False, force=True)

    def on_resize(self, event: Resize) -> None:
        """Wrap anew, the range still in the middle."""
        if event.size.width != self._width:
            self._lay_out()
        self.call_after_refresh(self.centre)

    def render_line(self, y: int) -> Strip:
        """One row: number, mark, text."""
        row = y + self.scroll_offset.y
        base = self.rich_style
        if row >= len(self._rows):
            return Strip.blank(self.size.width, base)
        start, end = self._rows.starts[row], self._rows.ends[row]
        marked = start < self._end and end > self._start
        number = str(self._rows.numbers[row] + self._first_number - 1) if self._rows.begins_line(row) else ""
        gutter = self._component("document-view--mark" if marked else "document-view--gutter", base)
        segments = [Segment(f"{number:>{self._digits}} {'┃' if marked else '│'} ", gutter)]
        inside_start, inside_end = max(start, min(self._start, end)), max(start, min(self._end, end))
        quote = self._component("document-view--quote", base)
        for begin, stop, style in (
            (start, inside_start, base),
            (inside_start, inside_end, quote),
            (inside_end, end, base),
        ):
            if stop > begin:
                segments.append(Segment(drawn(self._text[begin:stop]), style))
        strip = Strip(segments).adjust_cell_length(self.size.width - self._margin, base)
        if not self._margin:
            return strip
        told = self._mark_at(row)
        aside = Segment(f" {told:>{self._margin - 1}}", self._component("document-view--gutter", base))
        return Strip([*strip, aside]).adjust_cell_length(self.size.width, base)

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
        width = self.size.width
        if width <= 0:
            return
        self._width = width
        lines = self._text.count("\n") + self._first_number
        self._rows = wrap(self._text, max(8, width - len(str(lines)) - 4 - self._margin))
        self.virtual_size = Size(width, len(self._rows))
        self.refresh()
