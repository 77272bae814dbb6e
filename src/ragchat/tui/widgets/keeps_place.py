"""A pane that keeps the reader's place while what it holds grows, shrinks or is wrapped anew.

Three places can be kept: the end, while something grows there; the beginning of what is finished; and what
the reader has scrolled to, which then stays at the top whatever happens above, below or to the width.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.containers import VerticalScroll
from textual.events import Resize
from textual.geometry import Size
from textual.widget import Widget

from ragchat.tui.keys import key_for


class _Mark(NamedTuple):
    """A widget at the top of the view, which row of it stands there, and how large it was."""

    widget: Widget
    row: int
    size: Size

    @property
    def row_now(self) -> int:
        """The same row; about the same words where the widget was wrapped anew."""
        now = self.widget.outer_size
        if now.width == self.size.width:
            return min(self.row, max(0, now.height - 1))
        return self.row * now.height // max(1, self.size.height)


def row_of(widget: Widget, pane: Widget) -> int:
    """At which row of the pane's content a widget in it begins."""
    row = 0
    while widget is not pane:
        row += widget.virtual_region.y
        assert isinstance(widget.parent, Widget)
        widget = widget.parent
    return row


class KeepsPlace(VerticalScroll):
    """Textual's anchor pushes short content to the bottom edge too; this leaves it at the top."""

    _follows = False
    _held: Widget | None = None
    _marks: tuple[_Mark, ...] = ()
    _moves_itself = False

    @property
    def is_led(self) -> bool:
        """Whether the place is not one that the reader has scrolled to."""
        return self._follows or self._held is not None

    def follow_end(self) -> None:
        """Keep to the end from now on, until the reader scrolls up."""
        self._follows, self._held, self._marks = True, None, ()
        self._settle_now_and_when_laid_out()

    def hold(self, widget: Widget) -> None:
        """Keep its beginning in view until the reader scrolls: at the top, or lower where all of it fits."""
        self._follows, self._held, self._marks = False, widget, ()
        self._settle_now_and_when_laid_out()

    def hidden_above(self, widget: Widget) -> int:
        """How many rows of a widget that is in view lie above it; 0 where it is not in view."""
        first, last = self._rows_in_view(widget)
        return -first if first < 0 <= last else 0

    def hidden_below(self, widget: Widget) -> int:
        """How many lie below."""
        first, last = self._rows_in_view(widget)
        height = self.scrollable_content_region.height
        return last - height + 1 if first < height <= last else 0

    def _rows_in_view(self, widget: Widget) -> tuple[int, int]:
        """Its first and last row, counted from the top of the view."""
        first = row_of(widget, self) - self.scroll_offset.y
        return first, first + widget.outer_size.height - 1

    def let_go(self) -> None:
        """Keep no place: what was there goes."""
        self._follows, self._held, self._marks = False, None, ()

    def watch_virtual_size(self, _old: Size, _new: Size) -> None:
        """Something grew or shrank."""
        self._settle()
        self.tell_more()

    def on_resize(self, _: Resize) -> None:
        """The drawer opened, or the terminal changed."""
        self._settle()
        self.tell_more()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The reader scrolled: up lets go of the end, reaching it takes hold again."""
        super().watch_scroll_y(old_value, new_value)
        self.tell_more()
        was_cut = old_value > self.max_scroll_y  # by content that shrank, not by the reader
        if self._moves_itself or was_cut:
            return
        self._held = None
        self._follows = new_value >= self.max_scroll_y
        self._marks = () if self._follows else tuple(self._at_top(int(new_value)))

    def _settle_now_and_when_laid_out(self) -> None:
        """What was just mounted has no place yet, and need not change the size of it all when it gets one."""
        self._settle()
        self.call_after_refresh(self._settle)

    def tell_more(self) -> None:
        """Say at the lower edge by which key the rest is read, where there is more below."""
        below = self.max_scroll_y - self.scroll_y  # a single row is the blank one behind the last turn
        more = f"▾ more: {key_for('prompt.page_down')}" if below > 1 else ""
        if more != self.border_subtitle:
            self.border_subtitle = more

    def _settle(self) -> None:
        if self._held is not None and self._held.is_attached:
            wanted = row_of(self._held, self)
        elif self._follows:
            wanted = self.max_scroll_y
        elif (mark := next((each for each in self._marks if each.widget.is_attached), None)) is not None:
            wanted = row_of(mark.widget, self) + mark.row_now
        else:
            return
        self._moves_itself = True
        self.scroll_to(y=min(wanted, self.max_scroll_y), animate=False, force=True, immediate=True)
        self._moves_itself = False

    def _at_top(self, row: int) -> Iterator[_Mark]:
        """What stands at this row, the innermost first: it may be replaced, and then the next one counts."""
        marks: list[_Mark] = []
        inside: Widget | None = self
        while inside is not None:
            inside = next((each for each in inside.children if row < each.virtual_region.bottom), None)
            if inside is not None and inside.display:
                row = max(0, row - inside.virtual_region.y)
                marks.append(_Mark(inside, row, inside.outer_size))
        yield from reversed(marks)
