"""A list of many rows with a cursor, of which only the visible ones are drawn."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip


class RowList(ScrollView, can_focus=True):
    """What a row says is `row`'s; a heading of `HEAD` lines stays above them."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"rows--quiet", "rows--line", "rows--good", "rows--cursor"}
    HEAD: ClassVar[int] = 0

    class Moved(Message):
        """The cursor stands on another row."""

    class OpenWanted(Message):
        """Open what is under the cursor."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self.cursor = 0

    @property
    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError

    def row(self, at: int, base: Style) -> list[Segment]:
        """What row `at` says."""
        raise NotImplementedError

    def heading(self, base: Style) -> list[Segment]:
        """What stands above the rows."""
        return [Segment("", base)]

    @property
    def width(self) -> int:
        """Cells beside the scrollbar."""
        return self.scrollable_content_region.width

    def renew(self) -> None:
        """The rows are others now; the cursor stays within them."""
        self.cursor = min(self.cursor, max(0, self.count - 1))
        self.virtual_size = Size(self.width, self.count + self.HEAD)
        self._keep_visible()
        self.refresh()

    def go(self, row: int) -> None:
        """Move the cursor there, within the list."""
        row = max(0, min(row, self.count - 1))
        if row != self.cursor:
            self.cursor = row
            self._keep_visible()
            self.refresh()
            self.post_message(self.Moved())

    def action_up(self) -> None:
        """The row above."""
        self.go(self.cursor - 1)

    def action_down(self) -> None:
        """The row below."""
        self.go(self.cursor + 1)

    def action_first(self) -> None:
        """The first row."""
        self.go(0)

    def action_last(self) -> None:
        """The last row."""
        self.go(self.count - 1)

    def action_page(self, pages: int) -> None:
        """A screenful up or down."""
        self.go(self.cursor + pages * max(1, self.size.height - self.HEAD - 1))

    def action_open(self) -> None:
        """Open what is under the cursor."""
        if self.cursor < self.count:
            self.post_message(self.OpenWanted())

    def on_click(self, event: Click) -> None:
        """A click moves the cursor; one more opens the row."""
        row = event.y - self.gutter.top - self.HEAD + self.scroll_offset.y
        if row == self.cursor:
            self.action_open()
        elif 0 <= row < self.count:
            self.go(row)

    def on_resize(self) -> None:
        """The cursor stays in sight."""
        self.renew()

    def render_line(self, y: int) -> Strip:
        """The heading, or one row."""
        base = self.rich_style
        at = y - self.HEAD + self.scroll_offset.y
        if y < self.HEAD:
            segments = self.heading(base)
        elif at >= self.count:
            return Strip.blank(self.size.width, base)
        else:
            at_cursor = at == self.cursor
            if at_cursor:
                base += self.get_component_rich_style("rows--cursor")
            segments = [
                Segment("▸" if at_cursor else " ", self.part("rows--line", base)),
                *self.row(at, base),
            ]
        return Strip(segments).adjust_cell_length(self.width, base).adjust_cell_length(self.size.width, base)

    def part(self, name: str, base: Style) -> Style:
        """A component's style on that of the row."""
        return base + self.get_component_rich_style(name, partial=True)

    def _keep_visible(self) -> None:
        rows = self.size.height - self.HEAD
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif rows > 0 and self.cursor >= top + rows:
            self.scroll_to(y=self.cursor - rows + 1, animate=False, force=True)
