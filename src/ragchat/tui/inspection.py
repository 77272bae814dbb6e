"""What the inspector shows of a trace: its candidates in some order, and what another threshold would send.

Nothing is searched, sent or kept here: the gate judges the known distances once more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from ragchat.answering.refusal import admitting
from ragchat.retrieval.gate import judge
from ragchat.retrieval.trace import Candidate, RetrievalTrace

Order = Literal["distance", "fused", "dense", "bm25", "late"]
ORDERS: tuple[Order, ...] = get_args(Order)

STEP = 0.005
"""Cosine distance that the line moves by."""
_FARTHEST = 2.0

_KEYS: dict[Order, Callable[[Candidate], float]] = {
    "distance": lambda each: each.distance,
    "fused": lambda each: each.fused_rank,
    "dense": lambda each: math.inf if each.dense_rank is None else each.dense_rank,
    "bm25": lambda each: math.inf if each.bm25_rank is None else each.bm25_rank,
    "late": lambda each: math.inf if each.rerank_score is None else -each.rerank_score,
}


class Inspection:
    """value: where the threshold's line stands now. order, needle: what is listed, and how.

    limit: at most so many passages are sent. kept_shift: of the folder now; None where it is not known.
    """

    def __init__(self, trace: RetrievalTrace, limit: int) -> None:
        self.trace = trace
        self.limit = limit
        self.value = trace.threshold.value
        self.order: Order = "distance"
        self.needle = ""
        self.kept_shift: float | None = None
        self._lines = {trace.threshold.shift: trace.threshold.value}
        """Where the line stood under each shift that the question was judged or set with."""

    @property
    def rest(self) -> float:
        """Where the line stands when it is not held: as set here, else as the question was judged."""
        as_judged = self.trace.threshold
        shift = as_judged.shift if self.kept_shift is None else self.kept_shift
        return self._lines.get(shift, as_judged.value)

    @property
    def is_set(self) -> bool:
        """Whether the line, moved from where the question was judged, was set as the folder's."""
        return self.is_moved and self.value == self.rest

    @property
    def moved_since(self) -> float:
        """How far every threshold was moved after the question was judged, other than here."""
        if self.kept_shift is None or self.kept_shift in self._lines:
            return 0.0
        return round(self.kept_shift - self.trace.threshold.shift, 3)

    def shift_to_set(self) -> float:
        """The shift of the folder that puts this question's threshold to the line."""
        shift = self.trace.threshold.shift_to(self.value)
        self._lines.setdefault(shift, self.value)
        return shift

    @property
    def is_moved(self) -> bool:
        """Whether the line stands elsewhere than it did when the question was asked."""
        return self.value != self.trace.threshold.value

    @property
    def shift(self) -> float:
        """How far the line was moved; positive lets more pass."""
        return round(self.value - self.trace.threshold.value, 3)

    def move(self, value: float) -> None:
        """Put the line there, within the distances that there are."""
        self.value = round(min(max(value, 0.0), _FARTHEST), 3)

    def step(self, steps: int) -> None:
        """Move the line to the next multiple of `STEP`."""
        place = self.value / STEP
        place = math.floor(place + 1e-6) if steps > 0 else math.ceil(place - 1e-6)
        self.move((place + steps) * STEP)

    def reach(self, candidate: Candidate) -> None:
        """Put the line where it just admits this passage, whose distance must be a number."""
        self.move(admitting(candidate.distance))

    def judged(self) -> tuple[Candidate, ...]:
        """The candidates with the verdicts that the line gives them."""
        if not self.is_moved:
            return self.trace.candidates
        return judge(self.trace.candidates, self.value, self.limit)

    def moved_trace(self) -> RetrievalTrace:
        """The trace as it would be under the line."""
        threshold = replace(self.trace.threshold, value=self.value)
        return replace(self.trace, candidates=self.judged(), threshold=threshold)

    def rows(self) -> list[Candidate | None]:
        """What is listed; None is the line, which only an order by distance has a place for."""
        needle = self.needle.casefold()
        listed: list[Candidate | None] = [
            each for each in sorted(self.judged(), key=_KEYS[self.order]) if needle in _words(each)
        ]
        if self.order == "distance":
            within = sum(each is not None and each.distance <= self.value for each in listed)
            listed.insert(within, None)
        return listed

    def admits(self, candidate: Candidate) -> float | None:
        """The smallest threshold at which it would be sent; None where better ones take its place anyway."""
        if math.isnan(candidate.distance):
            return None
        needed = admitting(candidate.distance)
        judged = judge(self.trace.candidates, needed, self.limit)
        sent = {each.chunk_id for each in judged if each.verdict == "sent"}
        return needed if candidate.chunk_id in sent else None

    def ladder(self, most: int = 3) -> list[tuple[float, int]]:
        """The next thresholds that would send more, each with how many: what it takes to be answered."""
        now = sum(each.verdict == "sent" for each in self.judged())
        steps: list[tuple[float, int]] = []
        beyond = {admitting(each.distance) for each in self.trace.candidates if each.distance > self.value}
        for needed in sorted(beyond):
            judged = judge(self.trace.candidates, needed, self.limit)
            sent = sum(each.verdict == "sent" for each in judged)
            if sent > now:
                steps.append((needed, sent))
                now = sent
            if len(steps) == most:
                break
        return steps


def _words(candidate: Candidate) -> str:
    chunk = candidate.chunk
    return f"{chunk.document} {' > '.join(chunk.section)} {chunk.content} {candidate.verdict}".casefold()
