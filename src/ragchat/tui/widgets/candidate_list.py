"""Candidates as rows of a table through which the threshold runs as a line; only visible rows are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ragchat.tui import keys
from ragchat.tui.formatting import one_line, section_name

if TYPE_CHECKING:
    from ragchat.retrieval.trace import Candidate, Verdict

GLYPHS: dict[Verdict, str] = {
    "sent": "✓",
    "too far": "✗",
    "beyond top k": "·",
    "duplicate": "≡",
    "did not fit": "▭",
}
_VERDICT = 15
_NUMBER = 7
_AXIS, _NARROW_AXIS, _WIDE = 28, 11, 100
"""Cells of the axis, of a narrow screen's, and from how many on a screen is wide."""
_HEAD = 1


class CandidateList(ScrollView, can_focus=True):
    """Verdict, place on the axis of distances, ranks, score, passage. Left of the line is evidence."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "candidates--quiet",
        "candidates--line",
        "candidates--sent",
        "candidates--cursor",
    }
    BINDINGS: ClassVar[list[BindingType]] = keys.INSPECTOR

    class Moved(Message):
        """The cursor stands on another row."""

    class OpenWanted(Message):
        """Open the passage under the cursor."""

    def __init__(self) -> None:
        super().__init__(id="candidates")
        self._rows: Sequence[Candidate | None] = ()
        self._line = 0.0
        self._low, self._high = 0.0, 1.0
        self.cursor = 0

    def show(self, rows: Sequence[Candidate | None], line: float, ends: tuple[float, float]) -> None:
        """The rows, None being the line; where the line stands; the ends of the axis. The cursor stays."""
        under = self.current
        self._rows, self._line = rows, line
        self._low, self._high = ends
        known = [at for at, row in enumerate(rows) if row and under and row.chunk_id == under.chunk_id]
        self.cursor = known[0] if known else min(self.cursor, max(0, len(rows) - 1))
        self.virtual_size = Size(self.size.width, len(rows) + _HEAD)
        self._keep_visible()
        self.refresh()

    @property
    def current(self) -> Candidate | None:
        """The candidate under the cursor; None on the line, or of an empty list."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def go(self, row: int) -> None:
        """Move the cursor there, within the list."""
        row = max(0, min(row, len(self._rows) - 1))
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
        self.go(len(self._rows) - 1)

    def action_page(self, pages: int) -> None:
        """A screenful up or down."""
        self.go(self.cursor + pages * max(1, self.size.height - _HEAD - 1))

    def action_open(self) -> None:
        """Open the passage under the cursor; the line itself opens nothing."""
        if self.current is not None:
            self.post_message(self.OpenWanted())

    def on_click(self, event: Click) -> None:
        """A click moves the cursor; one more opens the passage."""
        row = event.y - self.gutter.top - _HEAD + self.scroll_offset.y
        if row == self.cursor:
            self.action_open()
        elif 0 <= row < len(self._rows):
            self.go(row)

    def _keep_visible(self) -> None:
        rows = self.size.height - _HEAD
        top = self.scroll_offset.y
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif rows > 0 and self.cursor >= top + rows:
            self.scroll_to(y=self.cursor - rows + 1, animate=False, force=True)

    def on_resize(self) -> None:
        """The cursor stays in sight."""
        self.virtual_size = Size(self.size.width, len(self._rows) + _HEAD)
        self._keep_visible()

    def render_line(self, y: int) -> Strip:
        """The heading, or one row."""
        width, base = self.size.width, self.rich_style
        row = y - _HEAD + self.scroll_offset.y
        if y < _HEAD:
            segments = self._heading(base)
        elif row >= len(self._rows):
            return Strip.blank(width, base)
        else:
            at_cursor = row == self.cursor
            if at_cursor:
                base = base + self.get_component_rich_style("candidates--cursor")
            segments = [Segment("▸" if at_cursor else " ", self._style("candidates--line", base))]
            each = self._rows[row]
            segments += self._threshold(base) if each is None else self._candidate(each, base)
        return Strip(segments).adjust_cell_length(width, base)

    @property
    def _axis(self) -> int:
        return _AXIS if self.size.width >= _WIDE else _NARROW_AXIS

    @property
    def _number(self) -> int:
        return _NUMBER if self.size.width >= _WIDE else _NUMBER - 1

    def _heading(self, base: Style) -> list[Segment]:
        low, high = f"{self._low:.1f}", f"{self._high:.1f}"
        axis = low + high.rjust(self._axis - len(low))
        numbers = "".join(name.rjust(self._number) for name in ("dist", "dense", "bm25", "fused", "late"))
        words = f" {'verdict':<{_VERDICT}}{axis}{numbers}  passage"
        return [Segment(words, self._style("candidates--quiet", base))]

    def _threshold(self, base: Style) -> list[Segment]:
        """The line as a row of its own: what stands below it is too far."""
        style = self._style("candidates--line", base)
        at = self._place(self._line)
        rule = "─" * at + "┼" + "─" * (self._axis - at - 1)
        told = f" {self._line:.3f} ".rjust(self._number + 1, "─")
        rest = "─" * max(0, self.size.width - 1 - _VERDICT - self._axis - len(told))
        return [Segment(f"{'─ threshold ':─<{_VERDICT}}{rule}{told}{rest}", style)]

    def _candidate(self, candidate: Candidate, base: Style) -> list[Segment]:
        quiet, line = self._style("candidates--quiet", base), self._style("candidates--line", base)
        is_sent = candidate.verdict == "sent"
        strong = self._style("candidates--sent", base) if is_sent else base
        number = f" [{candidate.number}]" if candidate.number is not None else ""
        verdict = f"{GLYPHS[candidate.verdict]} {candidate.verdict}{number}"
        cells = [Segment(set_cell_size(verdict, _VERDICT), strong if is_sent else quiet)]
        at, mark = self._place(self._line), self._place(candidate.distance)
        dot = Segment("●" if is_sent else "○", strong if is_sent else base)
        bar = Segment("│", line)
        pieces = sorted({at: bar, mark: dot}.items())
        filled = 0
        for place, piece in pieces:
            cells += [Segment("·" * (place - filled), quiet), piece]
            filled = place + 1
        cells.append(Segment("·" * (self._axis - filled), quiet))
        cells.append(Segment(f"{candidate.distance:.3f}".rjust(self._number), base))
        ranks = (candidate.dense_rank, candidate.bm25_rank, candidate.fused_rank)
        told = ["–" if rank is None else str(rank) for rank in ranks]
        score = candidate.rerank_score
        told.append("–" if score is None else f"{score:.2f}")
        cells.append(Segment("".join(each.rjust(self._number) for each in told), quiet))
        cells.append(Segment(f"  {one_line(candidate.chunk.document, 120)}", strong))
        if section := section_name(candidate.chunk.section):
            cells.append(Segment(f" · {section}", quiet))
        return cells

    def _place(self, distance: float) -> int:
        """The cell of the axis at which a distance stands."""
        if math.isnan(distance):
            return self._axis - 1
        share = (distance - self._low) / (self._high - self._low)
        return round(min(max(share, 0.0), 1.0) * (self._axis - 1))

    def _style(self, name: str, base: Style) -> Style:
        return base + self.get_component_rich_style(name, partial=True)
