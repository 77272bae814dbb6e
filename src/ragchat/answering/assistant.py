"""The front door for questions: question -> stream of events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

from ragchat.answering.choice import ModelChoice, choose_model, quoting_instead
from ragchat.answering.events import AnswerEvent, AnswerText, Finished, Retrieved, SentRequest
from ragchat.answering.filtered import retrieve_filtered
from ragchat.answering.generation import Generation
from ragchat.answering.model_memory import ModelMemory
from ragchat.answering.outcome import blank, does_not_fit, failed, model_answer, refused
from ragchat.answering.patience import Stopped, unless_stopped
from ragchat.answering.quotation import quote_sources
from ragchat.answering.request import Request, plan_request
from ragchat.answering.retrieves import Retrieves
from ragchat.answering.sent import sent_request
from ragchat.answering.server import InstalledModel, ModelServer, PromptTooLong
from ragchat.embedding.embedder import Embedder
from ragchat.errors import ModelMissing, ServerUnreachable
from ragchat.retrieval.filters import NO_FILTERS, Filters
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.settings import OllamaSettings


class Assistant:
    """Answers from one folder's index. Safe to call from any thread, one question at a time.

    retriever, embedder, server: asked for when they are needed, so that a refused question touches no server
    and a new state of the index is seen.
    preferred_model: the model remembered for the folder or configured, "" for neither.
    memory: what was learned of models before; None forgets it with this assistant.
    """

    def __init__(
        self,
        *,
        retriever: Callable[[], Retrieves],
        embedder: Callable[[], Embedder],
        server: Callable[[], ModelServer],
        preferred_model: Callable[[], str],
        settings: OllamaSettings,
        memory: ModelMemory | None = None,
    ) -> None:
        self._retriever = retriever
        self._embedder = embedder
        self._server = server
        self._preferred_model = preferred_model
        self._settings = settings
        self._memory = memory or ModelMemory()

    def retrieve(self, question: str, *, filters: Filters = NO_FILTERS) -> RetrievalTrace:
        """Search and judge; asks no model. Raises IndexMissing, IndexStale, EmbedderUnavailable, UsageError.

        question: as it was typed, with filters or without. filters: those beside it.
        """
        return retrieve_filtered(self._retriever(), question, filters)

    def ask(
        self,
        question: str,
        *,
        filters: Filters = NO_FILTERS,
        model: str | None = None,
        admit: frozenset[int] = frozenset(),
        cancel: threading.Event | None = None,
        answer_tokens: int = 0,
        follows: str = "",
    ) -> Iterator[AnswerEvent]:
        """Events of one question; the last is always `Finished`. Raises as `retrieve`.

        question, filters: as for `retrieve`.
        model: asked for by name, so that a missing one is a failed answer (exit 4); None takes the folder's
            remembered or configured one, else an installed one, else quotation answers.
        admit: chunk ids that the user lets through the gate by hand (a literal match on offer).
        cancel: stops at once and keeps the partial answer.
        answer_tokens: more room for the answer than the settings give (`Answer.more_tokens`).
        follows: the question that this one was asked after, where the user says so; its filters stay unless
            this one has others.
        """
        started = perf_counter()
        trace = retrieve_filtered(self._retriever(), question, filters, admit=admit, follows=follows)
        yield Retrieved(trace)
        for event in self._answer(trace, model, cancel or threading.Event(), answer_tokens):
            if isinstance(event, Finished):
                total = (perf_counter() - started) * 1000.0
                timings = {**trace.timings_ms, **event.answer.timings_ms, "total": total}
                event = Finished(replace(event.answer, timings_ms=timings))
            yield event

    def _answer(
        self, trace: RetrievalTrace, asked: str | None, cancel: threading.Event, answer_tokens: int
    ) -> Iterator[AnswerEvent]:
        if trace.refused:
            yield Finished(refused(trace))
            return
        server = self._server()
        try:
            preferred = self._preferred_model()
            choice = unless_stopped(lambda: choose_model(server, asked, preferred), cancel)
        except Stopped:
            yield Finished(replace(blank(trace), outcome="stopped", text=""))
        except ModelMissing as failure:
            yield Finished(failed(blank(trace), failure, asked))
        else:
            if choice.model is None:
                yield from self._quote(trace, choice)
            else:
                told = self._ask_model(server, choice.model, trace, cancel, answer_tokens)
                yield from self._finish((yield from told), server.host, choice.notice, asked)

    def _ask_model(
        self,
        server: ModelServer,
        model: InstalledModel,
        trace: RetrievalTrace,
        cancel: threading.Event,
        answer_tokens: int,
    ) -> Generator[AnswerEvent, None, _Told]:
        """Send what fits; once more, with less, where the server counts more tokens than it has room for.

        Returns no generation where not one source fits.
        """
        sent = trace
        requests: list[SentRequest] = []
        for last_attempt in (False, True):
            request = plan_request(model, trace, self._settings, self._memory, answer_tokens=answer_tokens)
            if request.prompt.trace != sent:
                sent = request.prompt.trace
                yield Retrieved(sent)
            if sent.refused:
                return _Told(request, None, requests)
            generation = Generation()
            yield from generation.run(server, request, cancel)
            self._learn(request, generation)
            requests.append(sent_request(request, generation, server.host))
            if last_attempt or not isinstance(failure := generation.failure, PromptTooLong):
                break
            model = replace(model, context=failure.window or model.context)
        return _Told(request, generation, requests)

    def _learn(self, request: Request, generation: Generation) -> None:
        """How many tokens this model made of the prompt."""
        if isinstance(generation.failure, PromptTooLong):
            counted: int | None = generation.failure.tokens
        else:
            context = generation.context(request)
            counted = context.prompt_tokens if context.counted and not context.truncated else None
        if counted:
            self._memory.note_tokens(request.model.digest, counted=counted, estimated=request.prompt.bound)

    def _finish(self, told: _Told, host: str, notice: str, asked: str | None) -> Iterator[AnswerEvent]:
        request, generation, requests = told
        if generation is None:
            yield Finished(replace(does_not_fit(request), requests=tuple(requests)))
        elif generation.failure and _can_be_quoted(generation, asked):
            yield from self._quote(request.prompt.trace, quoting_instead(generation.failure), requests)
        else:
            answer = model_answer(request, generation, notice=notice, host=host)
            yield Finished(replace(answer, requests=tuple(requests)))

    def _quote(
        self, trace: RetrievalTrace, choice: ModelChoice, requests: Sequence[SentRequest] = ()
    ) -> Iterator[AnswerEvent]:
        quotation = quote_sources(trace, self._embedder())
        yield AnswerText(quotation.text)
        answer = replace(
            blank(trace),
            text=quotation.text,
            answered_by="quotation",
            citations=quotation.citations,
            quotes=quotation.quotes,
            notice=choice.notice,
            pull=choice.pull,
            requests=tuple(requests),
        )
        yield Finished(answer)


class _Told(NamedTuple):
    """generation: None where not one source fits. requests: all that were sent."""

    request: Request
    generation: Generation | None
    requests: list[SentRequest]


def _can_be_quoted(generation: Generation, asked: str | None) -> bool:
    """Whether the call never began: no server, or a model nobody insisted on."""
    failure = generation.failure
    if generation.began:
        return False
    return isinstance(failure, ServerUnreachable) or (isinstance(failure, ModelMissing) and not asked)
