"""Why these: every passage that was considered, with distance, ranks and verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import DataTable, Static

from ragchat.answering.turn import source_of
from ragchat.tui import keys
from ragchat.tui.formatting import bar, one_line, section_name
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.retrieval.trace import Candidate, RetrievalTrace
    from ragchat.tui.app import RagchatApp

_GLYPHS = {"sent": "✓", "too far": "✗", "beyond top k": "·", "duplicate": "≡", "did not fit": "▭"}
_BAR = 6


class InspectorScreen(Screen[None]):
    """Sorted by distance at first, with the threshold drawn as a line through the list."""

    BINDINGS = keys.INSPECTOR
    CSS_PATH = "../styles/pages.tcss"

    def __init__(self, trace: RetrievalTrace) -> None:
        super().__init__()
        self._trace = trace
        self._by_distance = True
        self._rows: list[Candidate | None] = []

    def compose(self) -> ComposeResult:
        """The question and its threshold, the candidates, the keys."""
        yield Static(self._head(), classes="page-head")
        table: DataTable[Text] = DataTable(cursor_type="row", zebra_stripes=False)
        yield table
        yield KeyBar()

    def on_mount(self) -> None:
        """Fill the table."""
        self._fill()

    def _head(self) -> Content:
        trace = self._trace
        threshold = trace.threshold
        timings = " · ".join(f"{name} {value:.0f} ms" for name, value in trace.timings_ms.items())
        detail = f": {one_line(threshold.story, 120)}" if threshold.story else ""
        sent = len(trace.sources)
        outcome = f"✓ {sent} sent" if sent else "✗ refused: none is near enough"
        return Content.assemble(
            (one_line(trace.question, 300), "bold"),
            f"\n{outcome} of {len(trace.candidates)} candidates",
            f" · threshold {threshold.value:.3f}, {threshold.origin}{detail}\n",
            (timings, "$quiet"),
        )

    def _fill(self) -> None:
        table = self.query_one(DataTable)
        table.clear(columns=True)
        table.border_title = "Candidates by distance" if self._by_distance else "Candidates in ranked order"
        for label in ("verdict", "distance", "", "dense", "bm25", "fused", "passage"):
            table.add_column(Text(label))
        self._rows = self._ordered()
        for candidate in self._rows:
            table.add_row(*(self._line() if candidate is None else self._cells(candidate)))

    def _ordered(self) -> list[Candidate | None]:
        candidates = list(self._trace.candidates)
        if not self._by_distance:
            return list(candidates)
        candidates.sort(key=lambda candidate: candidate.distance)
        limit = self._trace.threshold.value
        within = [candidate for candidate in candidates if candidate.distance <= limit]
        return [*within, None, *candidates[len(within) :]]

    def _line(self) -> list[Text]:
        threshold = Text(f"{self._trace.threshold.value:.3f}", style="bold", justify="right")
        rules = [Text("─" * width) for width in (_BAR, 5, 4, 5, 12)]
        return [Text("─ threshold", style="bold"), threshold, *rules]

    def _cells(self, candidate: Candidate) -> list[Text]:
        number = f" [{candidate.number}]" if candidate.number is not None else ""
        section = section_name(candidate.chunk.section)
        ranks = (candidate.dense_rank, candidate.bm25_rank, candidate.fused_rank)
        return [
            Text(f"{_GLYPHS[candidate.verdict]} {candidate.verdict}{number}"),
            Text(f"{candidate.distance:.3f}", justify="right"),
            Text(self._bar(candidate.distance)),
            *[Text("–" if rank is None else str(rank), justify="right") for rank in ranks],
            Text(f"{one_line(candidate.chunk.document, 120)}{f' · {section}' if section else ''}"),
        ]

    @staticmethod
    def _bar(distance: float) -> str:
        return bar(1.0 - distance, _BAR)

    def action_sort(self) -> None:
        """By distance, or in the order of the fusion."""
        self._by_distance = not self._by_distance
        self._fill()

    def action_open(self) -> None:
        """Open the passage under the cursor; the line itself opens nothing."""
        table = self.query_one(DataTable)
        if not self._rows:
            return
        candidate = self._rows[table.cursor_row]
        if candidate is not None:
            source = source_of(candidate, number=candidate.number or 0, cited=False)
            cast("RagchatApp", self.app).view_sources([source], 0)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """A second click on a row opens it."""
        event.stop()
        self.action_open()
