"""What the sources panel and the viewer show of a turn, be it fresh or read back from the conversation.

Imported after the first frame only: the value types behind it load numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ragchat.answering.events import Answer
from ragchat.answering.filter_words import without_filters
from ragchat.answering.turn import Turn, TurnSource, dropped_by, source_of
from ragchat.retrieval.trace import RetrievalTrace


@dataclass(frozen=True, slots=True)
class Evidence:
    """The numbered sources of one question with the threshold they passed.

    evidential: False when the model said that the sources lack the answer.
    origin, detail: where the threshold comes from; "" for a turn read back from the conversation.
    dropped: evidence that did not fit the model's window; their number is 0.
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
    dropped: tuple[TurnSource, ...] = ()

    @property
    def listed(self) -> tuple[TurnSource, ...]:
        """What the panel lists: the numbered sources, then those that did not fit."""
        return self.sources + self.dropped


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
        dropped=tuple(source_of(each, number=0, cited=False) for each in dropped_by(trace)),
    )


def evidence_of_answer(answer: Answer) -> Evidence:
    """When the answer is known: what it cites, and whether it is evidence at all."""
    return replace(
        evidence_of_trace(answer.trace, answer.cited),
        refused=answer.outcome == "refused",
        evidential=not answer.abstained,
        finished=True,
    )


def evidence_of_turn(turn: Turn) -> Evidence:
    """An earlier turn, as it was shown."""
    return Evidence(
        question=without_filters(turn.question),
        sources=turn.sources,
        threshold=turn.threshold,
        refused=turn.outcome == "refused",
        evidential=not turn.abstained,
        dropped=turn.dropped,
        nearest=turn.nearest.distance if turn.nearest is not None else None,
    )
