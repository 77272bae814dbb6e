"""One question with what came of it, growing while it is answered."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from ragchat.tui.formatting import beginning, one_line, shown
from ragchat.tui.offers import Offer, offer_of
from ragchat.tui.support_marks import support_note, with_marks
from ragchat.tui.widgets import turn_notes
from ragchat.tui.widgets.note import Note, notes_for
from ragchat.tui.widgets.thinking import ThinkingFold
from ragchat.tui.widgets.turn_notes import Line

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widgets.markdown import MarkdownStream

    from ragchat.answering.events import Answer, Support
    from ragchat.answering.turn import Turn
    from ragchat.errors import RagchatError
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.evidence import Evidence
    from ragchat.tui.widgets.answer_text import AnswerText

_WORKING = "◐"
_SHORT_QUESTION, _FEW_LINES = 160, 3
_BETWEEN_DRAWINGS = 0.1
"""Seconds: each drawing lays the conversation out anew, which the model needs the processor for."""
_PAUSE_FOR_DRAWING, _LONGEST_PAUSE = 3.0, 1.0
"""A drawing is followed by a pause of so many times its length, at most a second. Keys it lets by as long."""
_WHILE_TYPING = 0.6
"""Seconds that a piece waits while somebody types: each drawing is one that the next key may meet."""


class TurnView(Vertical):
    """Question, a line that says how it stands, folded thinking, answer, notes; at last class `finished`."""

    class Selected(Message):
        """The user clicked this turn."""

        def __init__(self, turn: TurnView) -> None:
            self.turn = turn
            super().__init__()

    def go_there(self) -> None:
        """Select it."""
        self.post_message(self.Selected(self))

    def __init__(self, question: str, follows: str = "") -> None:
        super().__init__(classes="turn")
        self.question = question
        self.follows = follows
        self.kept: Turn | None = None
        self.next_code = 0
        self.evidence: Evidence | None = None
        self.answer: Answer | None = None
        self.offer: Offer | None = None
        self.text = ""
        self._pending = ""
        self._pending_since = 0.0
        self._timer: Timer | None = None
        self._pause = _BETWEEN_DRAWINGS
        self._stream: MarkdownStream | None = None
        self._body: AnswerText | None = None

    def compose(self) -> ComposeResult:
        """The fixed parts; the answer's Markdown comes with its first word."""
        yield Static(
            Content.assemble(
                ("▌", "$primary"),
                ("You  ", "bold $primary"),
                beginning(self.question).replace("\n", "\n      "),
            ),
            classes="question",
        )
        if self.follows:
            searched = f"↳ searched as: {one_line(f'{self.follows} {self.question}', 240)}"
            yield Static(Content.styled(searched, "$quiet"), classes="follows")
        yield Static(self._head(f"{_WORKING} searching"), classes="head")
        yield ThinkingFold()

    @property
    def beginning(self) -> Widget:
        """Where one begins to read it: at the question, or below one that would take the place."""
        short = len(self.question) <= _SHORT_QUESTION and self.question.count("\n") < _FEW_LINES
        return self if short else self._head_static

    def show_evidence(self, evidence: Evidence) -> None:
        """What is known before any model is asked."""
        self.evidence = evidence
        if not evidence.refused:
            self._say(f"{_WORKING} {len(evidence.sources)} sources found, asking")

    def show_reading(self) -> None:
        """No note is read yet."""
        self._say(f"{_WORKING} waiting until the first notes are read")

    def show_waiting(self, model: str, seconds: float) -> None:
        """The server is silent: it may be loading the model."""
        self._say(f"{_WORKING} loading {shown(model)} … {seconds:.0f} s")

    def add_thinking(self, text: str) -> None:
        """The model's reasoning is kept folded and apart from the answer."""
        self._say(f"{_WORKING} thinking")
        self._fold.add(text)

    def toggle_thinking(self) -> bool:
        """Unfold or fold the reasoning; False where there is none."""
        return self._fold.toggle()

    async def write(self, text: str) -> None:
        """A piece of the answer."""
        if not text:
            return  # a stream that is stopped before it drew anything would end this task too
        if self._stream is None:
            body = self._body or await self._mount_body()
            self._stream = body.get_stream(body)
            self._say(f"{_WORKING} answering")
        self.text += text
        if not self._pending:
            self._pending_since = time.monotonic()
            self._timer = self.set_timer(self._pause, self._draw_when_no_key_waits)
        self._pending += text

    async def reopen(self) -> None:
        """It is asked again, because more notes can be searched now: what was said of it goes."""
        await self.query_children(Note).remove()
        if self._body is not None:
            await self._body.remove()
        self._body, self.answer, self.offer, self.text = None, None, None, ""
        self.remove_class("finished")
        self._say(f"{_WORKING} all notes are indexed now: asking again")

    async def restart(self) -> None:
        """What was shown so far was reasoning after all: it goes there, and the answer begins anew."""
        await self._end_stream()
        reasoning, self.text = self.text, ""
        if self._body is not None:
            await self._body.update("")
        if reasoning:
            self.add_thinking(reasoning)

    async def _draw_when_no_key_waits(self) -> None:
        """Now, when nobody types; else right behind a key, or when too long was waited for one."""
        app = cast("RagchatApp", self.app)
        waited = time.monotonic() - self._pending_since
        if app.is_typing and waited < _LONGEST_PAUSE:
            if waited >= _WHILE_TYPING:
                app.do_behind_key(self._draw_pending)
            self._timer = self.set_timer(_BETWEEN_DRAWINGS, self._draw_when_no_key_waits)
        else:
            await self._draw_pending()

    async def _draw_pending(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        text, self._pending = self._pending, ""
        if text and self._stream is not None:
            began = time.monotonic()
            await self._stream.write(text)
            self.call_after_refresh(self._drawn, began)

    def _drawn(self, began: float) -> None:
        """A drawing that took long is followed by a longer pause, in which keys are heard at once."""
        took = time.monotonic() - began
        self._pause = min(max(_BETWEEN_DRAWINGS, _PAUSE_FOR_DRAWING * took), _LONGEST_PAUSE)

    async def finish(self, answer: Answer, evidence: Evidence) -> None:
        """The answer as it will stay."""
        await self._end_stream()
        self.evidence = evidence
        self.text = answer.text or ""
        if self.text:
            body = self._body or await self._mount_body()
            body.sources = len(evidence.sources)
            await body.settle(with_marks(self.text, answer.citations))
        thought = answer.timings_ms.get("thinking")
        self._fold.end(None if thought is None else thought / 1000.0)
        self._head_static.update(self._head(turn_notes.outcome_of_answer(answer)))
        await self._show_notes(turn_notes.notes_of_answer(answer))
        self.answer, self.offer = answer, offer_of(answer)

    async def show_support(self, support: Sequence[Support]) -> None:
        """Which sentences of the answer are found in the sources they cite."""
        if self.answer is None or self._body is None:
            return
        if self.kept is not None:
            self.kept = replace(self.kept, support=tuple(support))
        await self._body.settle(with_marks(self.text, self.answer.citations, support))
        await self.mount_all(notes_for(support_note(self.text, support)), after=self._body)

    async def fail(self, error: RagchatError) -> None:
        """The question could not be asked at all."""
        await self._end_stream()
        self._fold.end(None)
        self._say(turn_notes.NOT_ANSWERED)
        await self._show_notes(turn_notes.notes_of_error(error))

    async def restore(self, turn: Turn, evidence: Evidence | None) -> None:
        """An earlier turn, as it was shown."""
        from ragchat.answering.citations import attach_citations

        self.evidence, self.kept = evidence, turn
        self.text = turn.text or ""
        if self.text:
            citations = attach_citations(self.text, len(turn.sources))
            body = await self._mount_body()
            await body.settle(with_marks(self.text, citations, turn.support))
        self._head_static.update(self._head(turn_notes.outcome_of_turn(turn)))
        support = support_note(self.text, turn.support)
        await self._show_notes([*support, *turn_notes.notes_of_turn(turn)])

    @property
    def was_asked(self) -> bool:
        """Whether the notes were searched for it, or are being searched."""
        return self.evidence is not None and (self.kept is None or self.kept.was_asked)

    @property
    def kept_id(self) -> str:
        """Its name in the conversation; "" while it is not kept."""
        return self.kept.id if self.kept is not None else ""

    @property
    def copyable(self) -> str:
        """What a copy of this turn holds: the answer's words and what they cite, else the refusal."""
        if self.text:
            sources = self.evidence.sources if self.evidence is not None and self.evidence.evidential else ()
            cited = [f"[{source.number}] {source.citation}" for source in sources if source.cited]
            return "\n".join([self.text.rstrip("\n"), "", *cited]) if cited else self.text
        return (self.answer.message or "") if self.answer is not None else ""

    def on_click(self) -> None:
        """A click selects the turn."""
        self.post_message(self.Selected(self))

    @property
    def _fold(self) -> ThinkingFold:
        return self.query_one(ThinkingFold)

    @property
    def _head_static(self) -> Static:
        return self.query_one(".head", Static)

    @staticmethod
    def _head(standing: str | Content) -> Content:
        return Content.assemble(("▌", "$secondary"), ("ragchat  ", "bold $secondary"), standing)

    def _say(self, standing: str) -> None:
        self._head_static.update(self._head(Content.styled(standing, "$quiet")))

    async def _show_notes(self, lines: list[Line]) -> None:
        await self.mount_all(notes_for(lines))
        self.add_class("finished")

    async def _mount_body(self) -> AnswerText:
        from ragchat.tui.widgets.answer_text import AnswerText

        self._body = AnswerText(sources=len(self.evidence.sources) if self.evidence else 0)
        await self.mount(self._body)
        return self._body

    async def _end_stream(self) -> None:
        await self._draw_pending()
        if self._stream is not None:
            await self._stream.stop()
            self._stream = None
