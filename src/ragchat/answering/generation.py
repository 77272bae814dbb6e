"""One model answer while it streams: sorted, made safe to show, and kept whatever happens."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter

from ragchat.answering.escape import StreamEscaper
from ragchat.answering.events import AnswerEvent, AnswerText, Context, Thinking, Waiting
from ragchat.answering.prompt import Prompt
from ragchat.answering.server import Delta, InstalledModel, ModelServer
from ragchat.answering.thinking import Part, ThinkingFilter
from ragchat.answering.tokens import fewest_tokens
from ragchat.errors import BackendError
from ragchat.settings import OllamaSettings

_THINKING_TOKENS = 4096
"""Real thinking models used 1,600 to 3,500 tokens before the first word of an answer."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Tokens of the model's window, of the answer (thinking included), and what is left for the prompt."""

    num_ctx: int
    num_predict: int

    @property
    def room(self) -> int:
        """The most tokens a prompt may take."""
        return self.num_ctx - self.num_predict


def budget_for(model: InstalledModel, settings: OllamaSettings) -> Budget:
    """The same for every question to a model, because another num_ctx makes the server load it again."""
    num_ctx = max(2, min(settings.context_tokens, model.context or settings.context_tokens))
    wanted = settings.answer_tokens + (_THINKING_TOKENS if model.thinks else 0)
    # 0 or less would let the server generate without end.
    return Budget(num_ctx, max(1, min(wanted, 2 * num_ctx // 3)))


@dataclass(slots=True)
class Generation:
    """What has arrived so far. failure: why it broke off; the text up to there stays."""

    text: str = ""
    thought: bool = False
    first_token_at: float | None = None
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
        model: str,
        prompt: Prompt,
        options: Mapping[str, float | int],
        cancel: threading.Event,
    ) -> Iterator[AnswerEvent]:
        """Events as they come; never raises BackendError but keeps it as `failure`."""
        stream = server.chat(model, prompt.messages, options, cancel)
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

    def context(self, prompt: Prompt, budget: Budget) -> Context:
        """What the server read of the prompt, by its own count where it gave one."""
        counted = self.last.prompt_tokens if self.last else None
        least = sum(fewest_tokens(message["content"]) for message in prompt.messages)
        return Context(
            prompt_tokens=counted if counted is not None else prompt.tokens,
            num_ctx=budget.num_ctx,
            truncated=counted is not None and counted < least,
        )

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
            if shown := self._thinking.feed(part.text):
                yield Thinking(shown)
        else:
            yield from self._shown(self._answer.feed(part.text))

    def _shown(self, text: str) -> Iterator[AnswerEvent]:
        if text:
            self.text += text
            yield AnswerText(text)
