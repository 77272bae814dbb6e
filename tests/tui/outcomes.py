"""Answers with a receipt, without room, without a word: what the tests of outcomes and the pictures share."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from ragchat.answering.events import Answer, AnswerEvent, Context, Finished, Retrieved
from ragchat.retrieval.trace import RetrievalTrace
from tests.tui.fake_workspace import Script, answer_of, answered_trace, candidate, passages, trace_of

CONTEXT = Context(
    prompt_tokens=612,
    num_ctx=16384,
    truncated=False,
    counted=True,
    sources=4,
    model="qwen3:4b",
    digest="3b8e3da71929" * 5,
    temperature=0.0,
    seed=0,
    num_predict=4608,
    answer_tokens=80,
    thinking=True,
)
RECEIPT = "4 sources · 612 of 16,384 tokens · qwen3:4b 3b8e3da71929 · temperature 0 · seed 0"


def saying(make: Callable[[RetrievalTrace], Answer], *events: AnswerEvent) -> Script:
    """A script that ends with this answer."""

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield from events
        yield Finished(make(trace))

    return script


def with_receipt(trace: RetrievalTrace) -> Answer:
    return answer_of(trace, "In March [1].", context=CONTEXT)


def crowded(question: str, fitting: int) -> RetrievalTrace:
    """Four passages are near enough, of which so many fit."""
    candidates = [
        candidate(at, chunk, distance, fused=at)
        if at <= fitting
        else candidate(None, chunk, distance, "did not fit" if at <= 4 else "too far", fused=at)
        for at, (chunk, distance) in enumerate(passages(), start=1)
    ]
    return trace_of(question, candidates)


def used_up(trace: RetrievalTrace) -> Answer:
    return answer_of(
        trace,
        "",
        outcome="failed",
        error="qwen3:4b used up 4,608 tokens thinking and wrote no answer",
        hint="ask again with more room: ollama.answer_tokens=8192",
        more_tokens=8192,
        timings_ms={"total": 9000.0, "thinking": 8200.0},
    )
