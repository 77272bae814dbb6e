"""Candidates as rows of a table through which the threshold runs as a line; only visible rows are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.cells import set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType

from ragchat.tui import page_keys
from ragchat.tui.formatting import one_line, section_name
from ragchat.tui.widgets.row_list import RowList

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


class CandidateList(RowList):
    """Verdict, place on the axis of distances, ranks, score, passage. Left of the line is evidence."""

    BINDINGS: ClassVar[list[BindingType]] = page_keys.INSPECTOR
    HEAD = 1

    def __init__(self) -> None:
        super().__init__("candidates")
        self._rows: Sequence[Candidate | None] = ()
        self._line = 0.0
        self._low, self._high = 0.0, 1.0

    def show(self, rows: Sequence[Candidate | None], line: float, ends: tuple[float, float]) -> None:
        """The rows, None being the line; where the line stands; the ends of the axis. The cursor stays."""
        under = self.current
        self._rows, self._line = rows, line
        self._low, self._high = ends
        known = [at for at, row in enumerate(rows) if row and under and row.chunk_id == under.chunk_id]
        self.cursor = known[0] if known else self.cursor
        self.renew()

    @property
    def count(self) -> int:
        """Candidates and the line."""
        return len(self._rows)

    @property
    def current(self) -> Candidate | None:
        """The candidate under the cursor; None on the line, or of an empty list."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    @property
    def place(self) -> int:
        """Which of the candidates stands under the cursor, from 1."""
        return sum(row is not None for row in self._rows[: self.cursor + 1])

    def to_line(self) -> None:
        """The cursor onto the line, where it has a place."""
        if None in self._rows:
            self.go(self._rows.index(None))

    def row(self, at: int, base: Style) -> list[Segment]:
        """A candidate, or the line."""
        candidate = self._rows[at]
        return self._threshold(base) if candidate is None else self._candidate(candidate, base)

    @property
    def _axis(self) -> int:
        return _AXIS if self.width >= _WIDE else _NARROW_AXIS

    @property
    def _number(self) -> int:
        return _NUMBER if self.width >= _WIDE else _NUMBER - 1

    def heading(self, base: Style) -> list[Segment]:
        """The columns."""
        low, high = f"{self._low:.1f}", f"{self._high:.1f}"
        axis = low + high.rjust(self._axis - len(low))
        numbers = "".join(name.rjust(self._number) for name in ("dist", "dense", "bm25", "fused", "late"))
        words = f" {'verdict':<{_VERDICT}}{axis}{numbers}  passage"
        return [Segment(words, self.part("rows--quiet", base))]

    def _threshold(self, base: Style) -> list[Segment]:
        """The line as a row of its own: what stands below it is too far."""
        style = self.part("rows--line", base)
        at = self._place(self._line)
        rule = "─" * at + "┼" + "─" * (self._axis - at - 1)
        told = f" {self._line:.3f} ".rjust(self._number + 1, "─")
        rest = "─" * max(0, self.width - 1 - _VERDICT - self._axis - len(told))
        return [Segment(f"{'─ threshold ':─<{_VERDICT}}{rule}{told}{rest}", style)]

    def _candidate(self, candidate: Candidate, base: Style) -> list[Segment]:
        quiet, line = self.part("rows--quiet", base), self.part("rows--line", base)
        is_sent = candidate.verdict == "sent"
        strong = self.part("rows--good", base) if is_sent else base
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
