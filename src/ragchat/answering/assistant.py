"""The front door for questions: question -> stream of events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from time import perf_counter
from typing import Protocol

from ragchat.answering.abstention import is_abstention
from ragchat.answering.choice import choose_model, instead_of_model
from ragchat.answering.citations import attach_citations
from ragchat.answering.events import Answer, AnswerEvent, AnswerText, Finished, Retrieved
from ragchat.answering.generation import Budget, Generation, budget_for
from ragchat.answering.patience import Stopped, unless_stopped
from ragchat.answering.prompt import Prompt, build_prompt
from ragchat.answering.quotation import quote_sources
from ragchat.answering.refusal import refusal_message
from ragchat.answering.server import InstalledModel, ModelServer
from ragchat.embedding.embedder import Embedder
from ragchat.embedding.ollama_host import is_loopback
from ragchat.errors import BackendError, ModelMissing, ServerUnreachable
from ragchat.index.protocol import Scope
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.settings import OllamaSettings

EVERYWHERE = Scope()


class Retrieves(Protocol):
    """What the assistant needs of a `Retriever`."""

    def retrieve(
        self, question: str, scope: Scope = EVERYWHERE, admit: AbstractSet[int] = frozenset()
    ) -> RetrievalTrace:
        """Search and judge; see `Retriever.retrieve`."""


class Assistant:
    """Answers from one folder's index. Safe to call from any thread, one question at a time.

    retriever, embedder, server: asked for when they are needed, so that a refused question touches no server
    and a new state of the index is seen.
    preferred_model: the model remembered for the folder or configured, "" for neither.
    """

    def __init__(
        self,
        *,
        retriever: Callable[[], Retrieves],
        embedder: Callable[[], Embedder],
        server: Callable[[], ModelServer],
        preferred_model: Callable[[], str],
        settings: OllamaSettings,
    ) -> None:
        self._retriever = retriever
        self._embedder = embedder
        self._server = server
        self._preferred_model = preferred_model
        self._settings = settings

    def retrieve(self, question: str, *, scope: Scope = EVERYWHERE) -> RetrievalTrace:
        """Search and judge; asks no model. Raises IndexMissing, IndexStale, EmbedderUnavailable."""
        return self._retriever().retrieve(question, scope)

    def ask(
        self,
        question: str,
        *,
        scope: Scope = EVERYWHERE,
        model: str | None = None,
        admit: frozenset[int] = frozenset(),
        cancel: threading.Event | None = None,
    ) -> Iterator[AnswerEvent]:
        """Events of one question; the last is always `Finished`.

        model: asked for by name, so that a missing one is a failed answer (exit 4); None takes the folder's
            remembered or configured one, else an installed one, else quotation answers.
        admit: chunk ids that the user lets through the gate by hand (a literal match on offer).
        cancel: stops at once and keeps the partial answer.
        """
        started = perf_counter()
        trace = self._retriever().retrieve(question, scope, admit)
        yield Retrieved(trace)
        for event in self._answer(trace, model, cancel or threading.Event()):
            if isinstance(event, Finished):
                total = (perf_counter() - started) * 1000.0
                timings = {**trace.timings_ms, **event.answer.timings_ms, "total": total}
                event = Finished(replace(event.answer, timings_ms=timings))
            yield event

    def _answer(
        self, trace: RetrievalTrace, asked: str | None, cancel: threading.Event
    ) -> Iterator[AnswerEvent]:
        if trace.refused:
            yield Finished(_refused(trace))
            return
        server = self._server()
        try:
            preferred = self._preferred_model()
            choice = unless_stopped(lambda: choose_model(server, asked, preferred), cancel)
        except Stopped:
            yield Finished(replace(_answered(trace), outcome="stopped", text=""))
        except ModelMissing as failure:
            yield Finished(_failed(_answered(trace), failure, asked))
        else:
            if choice.model is None:
                yield from self._quote(trace, choice.notice)
            else:
                yield from self._ask_model(server, choice.model, trace, choice.notice, asked, cancel)

    def _ask_model(
        self,
        server: ModelServer,
        model: InstalledModel,
        trace: RetrievalTrace,
        notice: str,
        asked: str | None,
        cancel: threading.Event,
    ) -> Iterator[AnswerEvent]:
        budget = budget_for(model, self._settings)
        prompt = build_prompt(trace, budget.room)
        if prompt.trace != trace:
            yield Retrieved(prompt.trace)
        if prompt.trace.refused:
            yield Finished(_refused(prompt.trace))
            return
        options: dict[str, float | int] = {
            "temperature": self._settings.temperature,
            "seed": self._settings.seed,
            "num_ctx": budget.num_ctx,
            "num_predict": budget.num_predict,
        }
        generation, asked_at = Generation(), perf_counter()
        yield from generation.run(server, model.name, prompt, options, cancel)
        if generation.failure and _can_be_quoted(generation, asked):
            yield from self._quote(prompt.trace, instead_of_model(generation.failure))
            return
        answer = replace(
            _model_answer(generation, prompt, budget, model.name),
            notice="; ".join(
                filter(None, (notice, _cut_notice(generation, budget), _host_notice(server.host)))
            ),
        )
        first = generation.first_token_at
        timings = {} if first is None else {"first_token": (first - asked_at) * 1000.0}
        answer = replace(answer, timings_ms=timings)
        if generation.failure is None and generation.last is None:
            yield Finished(replace(answer, outcome="stopped"))
        elif generation.failure is not None:
            yield Finished(_failed(answer, generation.failure, model.name))
        elif not generation.text.strip():
            yield Finished(_said_nothing(answer, generation, budget))
        else:
            yield Finished(answer)

    def _quote(self, trace: RetrievalTrace, notice: str) -> Iterator[AnswerEvent]:
        quotation = quote_sources(trace, self._embedder())
        yield AnswerText(quotation.text)
        answer = replace(
            _answered(trace),
            text=quotation.text,
            answered_by="quotation",
            citations=quotation.citations,
            quotes=quotation.quotes,
            notice=notice,
        )
        yield Finished(answer)


def _can_be_quoted(generation: Generation, asked: str | None) -> bool:
    """Whether the call never began: no server, or a model nobody insisted on."""
    failure = generation.failure
    if generation.began:
        return False
    return isinstance(failure, ServerUnreachable) or (isinstance(failure, ModelMissing) and not asked)


def _answered(trace: RetrievalTrace) -> Answer:
    return Answer(
        question=trace.question,
        trace=trace,
        outcome="answered",
        text=None,
        message=None,
        answered_by="none",
        model=None,
        citations=(),
        abstained=False,
        context=None,
        timings_ms={},
    )


def _refused(trace: RetrievalTrace) -> Answer:
    return replace(_answered(trace), outcome="refused", message=refusal_message(trace))


def _failed(answer: Answer, failure: BackendError, model: str | None) -> Answer:
    return replace(answer, outcome="failed", model=model, error=failure.message, hint=failure.hint)


def _model_answer(generation: Generation, prompt: Prompt, budget: Budget, model: str) -> Answer:
    text = generation.text.rstrip()
    abstained = is_abstention(text)
    return replace(
        _answered(prompt.trace),
        text=text,
        answered_by="model",
        model=model,
        citations=() if abstained else attach_citations(text, len(prompt.trace.sources)),
        abstained=abstained,
        context=generation.context(prompt, budget),
    )


def _said_nothing(answer: Answer, generation: Generation, budget: Budget) -> Answer:
    if generation.thought and generation.last is not None and generation.last.done_reason == "length":
        return replace(
            answer,
            outcome="failed",
            error=f"{answer.model} used up {budget.num_predict} tokens thinking and wrote no answer",
            hint="raise ollama.answer_tokens and ollama.context_tokens, or choose another model",
        )
    return replace(
        answer,
        outcome="failed",
        error=f"{answer.model} ended without a word",
        hint="ask again, or choose another model with --model",
    )


def _cut_notice(generation: Generation, budget: Budget) -> str:
    cut = generation.last is not None and generation.last.done_reason == "length" and generation.text.strip()
    return f"cut off at {budget.num_predict} tokens (ollama.answer_tokens)" if cut else ""


def _host_notice(host: str) -> str:
    return "" if is_loopback(host) else f"the notes quoted above were sent to {host}, not this machine"
