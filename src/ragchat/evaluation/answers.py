"""The answers themselves: what the model made of what it was sent.

"Not retrieved" and "retrieved but ignored" are two different faults, mended in two different places; so each
answer is told by whether the gold was among its sources, and by what it did with them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from ragchat.answering.assistant import Assistant
from ragchat.answering.events import Answer, Finished, Support
from ragchat.answering.support import check_support
from ragchat.chunking.chunk import Chunk
from ragchat.embedding.embedder import Embedder
from ragchat.evaluation.questions import Gold, Question
from ragchat.evaluation.statistics import Proportion, proportion

Sent = Literal["gold sent", "gold not sent", "no gold"]
"""no gold: the question must be refused."""
Deed = Literal["refused", "abstained", "cites the gold", "cites others", "cites nothing", "failed"]
SENT: tuple[Sent, ...] = get_args(Sent)
DEEDS: tuple[Deed, ...] = get_args(Deed)


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer. invalid: it cites a number that no source has. supports: see `check_support`."""

    question: Question
    sent: Sent
    deed: Deed
    invalid: bool
    supports: tuple[Support, ...]
    text: str | None


@dataclass(frozen=True, slots=True)
class Deeds:
    """Over all answers; shares are None of nothing.

    table: (sent, deed) -> how many. cited, invalid, abstained: of the answers that were given.
    found: sentences found in the source they cite, of those that can be told.
    """

    table: Mapping[tuple[Sent, Deed], int]
    cited: Proportion | None
    invalid: Proportion | None
    abstained: Proportion | None
    found: Proportion | None


def ask_for_answers(
    questions: Sequence[Question],
    assistant: Assistant,
    embedder: Embedder,
    *,
    model: str | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    cancel: threading.Event | None = None,
) -> list[Judged]:
    """Have every question answered, in order; fewer after a cancel.

    model: as in `Assistant.ask`: one asked for by name makes failed answers where it is missing.
    """
    judged: list[Judged] = []
    stopped = cancel or threading.Event()
    for number, question in enumerate(questions):
        if on_progress is not None:
            on_progress(number, len(questions))
        answer = _answer(assistant, question.text, model, stopped)
        if stopped.is_set():
            break
        judged.append(judge_answer(question, answer, check_support(answer, embedder)))
    return judged


def judge_answer(question: Question, answer: Answer, supports: tuple[Support, ...] = ()) -> Judged:
    """What this answer did with what it was sent."""
    golden = {
        candidate.number
        for candidate in answer.trace.sources
        if any(_holds(candidate.chunk, gold) for gold in question.golds)
    }
    sent: Sent = "no gold" if not question.answerable else "gold sent" if golden else "gold not sent"
    return Judged(
        question, sent, _deed(answer, golden), bool(answer.invalid_citations), supports, answer.text
    )


def count_deeds(judged: Sequence[Judged]) -> Deeds:
    """The table of all answers, and the shares of those that were given."""
    given = [one for one in judged if one.deed not in ("refused", "failed")]
    checked = [support.found for one in judged for support in one.supports if support.found is not None]
    return Deeds(
        table=Counter((one.sent, one.deed) for one in judged),
        cited=proportion([float(one.deed in ("cites the gold", "cites others")) for one in given]),
        invalid=proportion([float(one.invalid) for one in given]),
        abstained=proportion([float(one.deed == "abstained") for one in given]),
        found=proportion([float(found) for found in checked]),
    )


def _answer(assistant: Assistant, question: str, model: str | None, cancel: threading.Event) -> Answer:
    for event in assistant.ask(question, model=model, cancel=cancel):
        if isinstance(event, Finished):
            return event.answer
    raise AssertionError("a question ended without its last event")


def _deed(answer: Answer, golden: set[int | None]) -> Deed:
    if answer.outcome == "refused":
        return "refused"
    if answer.outcome != "answered":
        return "failed"
    if answer.abstained:
        return "abstained"
    if answer.cited & golden:
        return "cites the gold"
    return "cites others" if answer.cited else "cites nothing"


def _holds(chunk: Chunk, gold: Gold) -> bool:
    """Whether at least half of a gold span lies in what was sent of the chunk."""
    held = min(chunk.end, gold.end) - max(chunk.context_start, gold.start)
    return chunk.document == gold.document and 2 * held >= gold.end - gold.start
