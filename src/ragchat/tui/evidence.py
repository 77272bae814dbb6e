"""What the sources panel and the viewer show of a turn, be it fresh or read back from the conversation.

Imported after the first frame only: the value types behind it load numpy.
"""

from __future__ import annotations

from dataclasses import dataclass

from ragchat.answering.conversation import Turn, TurnSource
from ragchat.answering.events import Answer
from ragchat.retrieval.trace import Candidate, RetrievalTrace


@dataclass(frozen=True, slots=True)
class Evidence:
    """The numbered sources of one question with the threshold they passed.

    evidential: False when the model said that the sources lack the answer.
    origin, detail: where the threshold comes from; "" for a turn read back from the conversation.
    considered: how many candidates there were, 0 when no longer known.
    nearest: the smallest distance of any candidate, None when no longer known.
    """

    question: str
    sources: tuple[TurnSource, ...]
    threshold: float
    origin: str = ""
    detail: str = ""
    considered: int = 0
    nearest: float | None = None
    refused: bool = False
    evidential: bool = True
    finished: bool = True
    trace: RetrievalTrace | None = None


def source_of(candidate: Candidate, *, number: int, cited: bool) -> TurnSource:
    """A candidate as the panel and the viewer show it."""
    chunk = candidate.chunk
    return TurnSource(
        number=number,
        document=chunk.document,
        section=" > ".join(chunk.section),
        start=chunk.start,
        end=chunk.end,
        first_line=chunk.first_line,
        last_line=chunk.last_line,
        locator=chunk.locator,
        distance=candidate.distance,
        quote=chunk.content,
        cited=cited,
    )


def evidence_of_trace(trace: RetrievalTrace, cited: frozenset[int] = frozenset()) -> Evidence:
    """Before the answer is known: what is being sent to the model."""
    return Evidence(
        question=trace.question,
        sources=tuple(
            source_of(candidate, number=number, cited=number in cited)
            for number, candidate in enumerate(trace.sources, start=1)
        ),
        threshold=trace.threshold.value,
        origin=trace.threshold.origin,
        detail=trace.threshold.detail,
        considered=len(trace.candidates),
        nearest=trace.nearest,
        refused=trace.refused,
        finished=False,
        trace=trace,
    )


def evidence_of_answer(answer: Answer) -> Evidence:
    """When the answer is known: what it cites, and whether it is evidence at all."""
    trace = answer.trace
    return Evidence(
        question=answer.question,
        sources=evidence_of_trace(trace, answer.cited).sources,
        threshold=trace.threshold.value,
        origin=trace.threshold.origin,
        detail=trace.threshold.detail,
        considered=len(trace.candidates),
        nearest=trace.nearest,
        refused=answer.outcome == "refused",
        evidential=not answer.abstained,
        trace=trace,
    )


def evidence_of_turn(turn: Turn) -> Evidence:
    """An earlier turn, as it was shown."""
    return Evidence(
        question=turn.question,
        sources=turn.sources,
        threshold=turn.threshold,
        refused=turn.outcome == "refused",
        evidential=not turn.abstained,
    )
