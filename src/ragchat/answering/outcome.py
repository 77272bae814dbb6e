"""What came of a question, as the `Answer` that screens show and conversations keep."""

from __future__ import annotations

import math
from dataclasses import replace

from ragchat.answering.abstention import is_abstention
from ragchat.answering.budget import THINKING_TOKENS
from ragchat.answering.citations import attach_citations
from ragchat.answering.events import Answer
from ragchat.answering.generation import Generation
from ragchat.answering.refusal import refusal_message
from ragchat.answering.request import Request
from ragchat.embedding.ollama_host import is_loopback
from ragchat.errors import BackendError, ModelMissing
from ragchat.retrieval.trace import RetrievalTrace


def blank(trace: RetrievalTrace) -> Answer:
    """An answer of which nothing is known but its evidence."""
    return Answer(
        question=trace.asked,
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


def refused(trace: RetrievalTrace) -> Answer:
    """No evidence, no call."""
    return replace(blank(trace), outcome="refused", message=refusal_message(trace))


def failed(answer: Answer, failure: BackendError, model: str | None) -> Answer:
    """What had arrived stays."""
    pull = failure.pull if isinstance(failure, ModelMissing) else ""
    return replace(answer, outcome="failed", model=model, error=failure.message, hint=failure.hint, pull=pull)


def does_not_fit(request: Request) -> Answer:
    """There is evidence, but not one source of it fits the window; nothing was sent."""
    budget, name = request.budget, request.model.name
    kept = min(budget.num_predict, budget.num_ctx)
    notice = (
        f"the window of {name} has {budget.num_ctx:,} tokens, of which {kept:,} are kept for "
        f"{'thinking and ' if request.think else ''}its answer"
    )
    larger = not request.model.context or budget.num_ctx < request.model.context
    hint = "raise ollama.context_tokens" if larger else "choose a model with a larger window"
    return replace(refused(request.prompt.trace), notice=notice, hint=hint, model=name)


def model_answer(request: Request, generation: Generation, *, notice: str, host: str) -> Answer:
    """What the model said, with its citations attached, and how it ended.

    notice: what is to be said beside it already; host: where its sources were sent.
    """
    text = generation.text.rstrip()
    abstained = is_abstention(text)
    notices = (notice, _cut_notice(request, generation), _host_notice(host))
    answer = replace(
        blank(request.prompt.trace),
        text=text,
        answered_by="model",
        model=request.model.name,
        citations=() if abstained else attach_citations(text, len(request.prompt.trace.sources)),
        abstained=abstained,
        context=generation.context(request),
        notice="; ".join(filter(None, notices)),
        timings_ms=generation.timings_ms,
        more_tokens=_more_tokens(request) if generation.used_up else 0,
    )
    if generation.failure is not None:
        return failed(answer, generation.failure, request.model.name)
    if generation.last is None:
        return replace(answer, outcome="stopped")
    return answer if text else _said_nothing(answer, generation)


def _said_nothing(answer: Answer, generation: Generation) -> Answer:
    if generation.thought and generation.used_up:
        error = f"{answer.model} used up {_used(answer):,} tokens thinking and wrote no answer"
    else:
        error = f"{answer.model} ended without a word"
    more = answer.more_tokens
    hint = (
        f"ask again with more room: ollama.answer_tokens={more}"
        if more
        else "ask again, or choose another model with --model"
    )
    return replace(answer, outcome="failed", error=error, hint=hint)


def _used(answer: Answer) -> int:
    context = answer.context
    assert context is not None
    return context.answer_tokens or context.num_predict or 0


def _more_tokens(request: Request) -> int:
    """Room for as much again; 0 where the model's own window has no more."""
    thinking = THINKING_TOKENS if request.think else 0
    answer = request.budget.num_predict - thinking
    more = answer + max(thinking, answer)
    fits = request.prompt.tokens + thinking + more <= (request.model.context or math.inf)
    return more if fits else 0


def _cut_notice(request: Request, generation: Generation) -> str:
    cut = generation.used_up and generation.text.strip()
    return f"cut off at {request.budget.num_predict} tokens (ollama.answer_tokens)" if cut else ""


def _host_notice(host: str) -> str:
    return "" if is_loopback(host) else f"the notes quoted above were sent to {host}, not this machine"
