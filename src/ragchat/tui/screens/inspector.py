"""Why these: every passage that was considered, and the threshold as a line that can be moved.

Moving the line only shows what would be sent; one key sets it as the folder's, and one puts it back.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from ragchat.answering.turn import source_of
from ragchat.tui import page_keys
from ragchat.tui.formatting import one_line, place, with_keys
from ragchat.tui.inspection import ORDERS, Inspection, Order
from ragchat.tui.messages import ThresholdSet
from ragchat.tui.screens.finds import FindsWords
from ragchat.tui.screens.inspected import detail_of, head_of
from ragchat.tui.widgets.candidate_list import CandidateList
from ragchat.tui.widgets.find_line import FindLine
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.events import Answer
    from ragchat.retrieval.trace import RetrievalTrace
    from ragchat.tui.app import RagchatApp


_NAMES: dict[Order, str] = {
    "distance": "distance",
    "fused": "fused rank",
    "dense": "dense rank",
    "bm25": "BM25 rank",
    "late": "late interaction",
}


class InspectorScreen(FindsWords):
    """Sorted by distance at first, with the threshold drawn as a line through the list."""

    BINDINGS = page_keys.INSPECTOR_PAGE
    CSS_PATH = "../styles/inspector.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]  # noqa: RUF012 -- Textual declares it

    def __init__(self, trace: RetrievalTrace, answer: Answer | None, limit: int) -> None:
        super().__init__()
        self._answer = answer
        self._inspection = Inspection(trace, limit)
        self._listed = ""

    def compose(self) -> ComposeResult:
        """The question and what the line makes of it, the candidates, the one under the cursor, the keys."""
        yield Static(classes="page-head")
        yield CandidateList()
        yield FindLine("words of the document, the section or the passage")
        yield Static(id="candidate", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Begin at the first row, or below the line where nothing was sent."""
        self._list.focus()
        self._draw()
        if (session := self._ragchat.session) is not None and session.is_open:
            session.tuning.look(self.post_message)
        if self._inspection.trace.refused and len(self._inspection.rows()) > 1:
            self._list.go(1)

    @property
    def _list(self) -> CandidateList:
        return self.query_one(CandidateList)

    @property
    def _ragchat(self) -> RagchatApp:
        return cast("RagchatApp", self.app)

    def _draw(self) -> None:
        inspection, listed = self._inspection, self._list
        rows = inspection.rows()
        shown = sum(row is not None for row in rows)
        listed.border_title = f"Candidates by {_NAMES[inspection.order]}"
        all_of_them = len(inspection.trace.candidates)
        self._listed = (
            f"{shown} of {all_of_them} with “{one_line(inspection.needle, 40)}”"
            if inspection.needle
            else f"{all_of_them}"
        )
        listed.show(rows, inspection.value, _ends(inspection.trace))
        self.query_one(".page-head", Static).update(head_of(inspection, self._answer))
        self._draw_detail()
        self.refresh_bindings()

    @on(CandidateList.Moved)
    def _draw_detail(self) -> None:
        candidate, detail = self._list.current, self.query_one("#candidate", Static)
        place_of_cursor = "the line" if candidate is None else f"{self._list.place:,}"
        self._list.border_subtitle = f"{place_of_cursor} · {self._listed}" if self._list.count else ""
        if candidate is None:
            detail.border_title = "Threshold" if self._inspection.trace.candidates else "Nothing"
        else:
            source = source_of(candidate, number=candidate.number or 0, cited=False)
            detail.border_title = Content(place(source))
        detail.update(detail_of(self._inspection, candidate))

    def offers(self, action: str) -> bool:
        """Whether a key has anything to act on now."""
        inspection, session = self._inspection, self._ragchat.session
        if action == "screen.apply":
            return inspection.value != inspection.rest or bool(inspection.moved_since)
        if action == "screen.put_back":
            return inspection.value != inspection.rest or (
                session is not None and session.tuning.can_put_back
            )
        if action in {"open", "screen.reach"}:
            return self._list.current is not None
        return True

    def action_step(self, steps: int) -> None:
        """Move the line."""
        self._inspection.step(steps)
        self._draw()

    def action_reach(self) -> None:
        """The line where it just admits the passage under the cursor."""
        candidate = self._list.current
        if candidate is not None and not math.isnan(candidate.distance):
            self._inspection.reach(candidate)
            self._draw()

    def action_to_line(self) -> None:
        """The cursor onto the line, whose reasons are then told."""
        self._inspection.order = "distance"
        self._draw()
        self._list.to_line()

    def action_apply(self) -> None:
        """Set the line as the folder's threshold."""
        inspection, session = self._inspection, self._ragchat.session
        origin = inspection.trace.threshold.origin
        if session is None or not self.offers("screen.apply"):
            self.notify("The line stands where it stood: ← → moves it.", severity="warning")
        elif origin == "provisional":
            self.notify("Not before all notes are indexed: until then it is estimated.", severity="warning")
        elif origin == "setting" and session.workspace.settings.retrieval.threshold == "auto":
            self.notify("It was judged with a fixed threshold: ask the question again.", severity="warning")
        else:
            session.tuning.set(inspection.shift_to_set(), "moved by hand in the inspector", self.post_message)

    def action_put_back(self) -> None:
        """The line as it was; on a line that was not moved since, what was set last."""
        session, inspection = self._ragchat.session, self._inspection
        if inspection.value != inspection.rest:
            inspection.move(inspection.rest)
            self._draw()
        elif session is not None and session.tuning.can_put_back:
            session.tuning.put_back(self.post_message)
        else:
            self.notify("Nothing to put back.", severity="warning")

    @on(ThresholdSet)
    def _threshold_set(self, message: ThresholdSet) -> None:
        if (error := message.error) is not None:
            hint = f" {with_keys(error.hint)}" if error.hint else ""
            self.notify(f"Not set: {error.message}.{hint}", severity="error", markup=False)
            return
        inspection, now = self._inspection, message.threshold
        was_at_rest = inspection.value == inspection.rest
        inspection.kept_shift = message.shift
        if not message.done:  # looked at: the line stays as the question was judged
            self._draw()
            return
        if was_at_rest:  # what was put back takes its line along
            inspection.move(inspection.rest)
        self._draw()
        value = f" The folder's is {now.value:.3f} now, {now.origin}." if now is not None else ""
        self.notify(f"{_sentence(message.done)}.{value}", markup=False)

    def action_sort(self) -> None:
        """The next order."""
        inspection = self._inspection
        inspection.order = ORDERS[(ORDERS.index(inspection.order) + 1) % len(ORDERS)]
        self._draw()

    def action_filter(self) -> None:
        """Type what to list."""
        self.action_find()

    @property
    def found_in(self) -> CandidateList:
        """The candidates."""
        return self._list

    def take_words(self, words: str) -> None:
        """List the candidates that hold them."""
        self._inspection.needle = words
        self._draw()

    @on(CandidateList.OpenWanted)
    def _open(self) -> None:
        candidate = self._list.current
        if candidate is not None:
            source = source_of(candidate, number=candidate.number or 0, cited=False)
            self._ragchat.view_sources([source], 0, self._inspection.trace.question)

    def action_prompt(self) -> None:
        """The exact prompt."""
        from ragchat.tui.screens.prompt_page import PromptPage

        self.app.push_screen(PromptPage(self._inspection, self._answer, self._ragchat.settings))

    def action_copy_json(self) -> None:
        """What `search --json` prints."""
        from ragchat.answering.report import search_json

        text = json.dumps(search_json(self._inspection.trace), ensure_ascii=False, indent=2)
        self._ragchat.copy(text, "the search as JSON")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _ends(trace: RetrievalTrace) -> tuple[float, float]:
    """From and to which distance the axis goes, in tenths: everything, and the threshold, lies between."""
    known = [each.distance for each in trace.candidates if not math.isnan(each.distance)]
    known.append(trace.threshold.value)
    low, high = math.floor(min(known) * 10) / 10, math.ceil(max(known) * 10) / 10
    return low, max(high, low + 0.1)
