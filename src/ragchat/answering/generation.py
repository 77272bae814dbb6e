"""One model answer while it streams: sorted, made safe to show, and kept whatever happens."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter

from ragchat.answering.escape import StreamEscaper
from ragchat.answering.events import AnswerEvent, AnswerText, Context, Thinking, Waiting
from ragchat.answering.request import Request
from ragchat.answering.server import Delta, ModelServer
from ragchat.answering.thinking import Part, ThinkingFilter
from ragchat.errors import BackendError


@dataclass(slots=True)
class Generation:
    """What has arrived so far. failure: why it broke off; the text up to there stays."""

    text: str = ""
    thought: bool = False
    started_at: float = 0.0
    first_token_at: float | None = None
    thinking_seconds: float = 0.0
    last: Delta | None = None
    failure: BackendError | None = None
    _filter: ThinkingFilter = field(default_factory=ThinkingFilter)
    _answer: StreamEscaper = field(default_factory=StreamEscaper)
    _thinking: StreamEscaper = field(default_factory=StreamEscaper)

    @property
    def began(self) -> bool:
        """Whether anything of the answer or the reasoning arrived."""
        return self.first_token_at is not None

    def run(
        self,
        server: ModelServer,
        request: Request,
        cancel: threading.Event,
    ) -> Iterator[AnswerEvent]:
        """Events as they come; never raises BackendError but keeps it as `failure`."""
        self.started_at = perf_counter()
        model = request.model.name
        stream = server.chat(model, request.prompt.messages, request.options, cancel, think=request.think)
        try:
            for delta in stream:
                if delta.waited and not self.began:
                    yield Waiting(model, delta.waited)
                yield from self._take(delta)
        except BackendError as failure:
            self.failure = failure
        for part in self._filter.finish():
            yield from self._show(part)
        yield from self._shown(self._answer.finish())

    def context(self, request: Request) -> Context:
        """What the server read of the prompt, by its own count where it gave one."""
        last = self.last or Delta()
        return request.receipt(last.prompt_tokens, last.answer_tokens)

    @property
    def timings_ms(self) -> dict[str, float]:
        """`first_token` and `thinking`, each where there was any."""
        timings = {}
        if self.first_token_at is not None:
            timings["first_token"] = (self.first_token_at - self.started_at) * 1000.0
        if self.thought:
            timings["thinking"] = self.thinking_seconds * 1000.0
        return timings

    @property
    def used_up(self) -> bool:
        """Whether it ended because its tokens did."""
        return self.last is not None and self.last.done_reason == "length"

    def _take(self, delta: Delta) -> Iterator[AnswerEvent]:
        if (delta.content or delta.thinking) and self.first_token_at is None:
            self.first_token_at = perf_counter()
        if delta.thinking:
            yield from self._show(Part("thinking", delta.thinking))
        for part in self._filter.feed(delta.content):
            yield from self._show(part)
        if delta.done:
            self.last = delta

    def _show(self, part: Part) -> Iterator[AnswerEvent]:
        if part.restarts:
            self._answer = StreamEscaper()
            self.text, self.thought = "", True
            yield AnswerText("", restarts=True)
        elif part.kind == "thinking":
            self.thought = True
            self._note_thinking()
            if shown := self._thinking.feed(part.text):
                yield Thinking(shown)
        else:
            yield from self._shown(self._answer.feed(part.text))

    def _note_thinking(self) -> None:
        if self.first_token_at is not None and not self.text:
            self.thinking_seconds = perf_counter() - self.first_token_at

    def _shown(self, text: str) -> Iterator[AnswerEvent]:
        if text:
            self.text += text
            yield AnswerText(text)
