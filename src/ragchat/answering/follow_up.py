"""A question that was asked as a follow-up: searched together with the one before, judged on its own.

"And the notice period?" means little without the question before it. But searched together, anything at all
would find the evidence of that question once more: "hello" after a hit is still near to the hit. So a passage
counts at its distance from both together only where the new question brings it nearer than the earlier one
had it; everywhere else at its distance from the new question alone. The threshold is that of both together
and at most the folder's: what loosens the gate for the earlier question says nothing about the new one.
The new question's own is no measure: it has few words and names no topic, which is why it is a follow-up.

Measured on the sample notes: of 8 follow-ups 7 find evidence (asked alone 3), of 216 off-topic ones 6.9 %
(asked alone 4.6 %; at the folder's threshold with no passage brought nearer by less than 0.02, 10.6 %).
"""

from __future__ import annotations

from dataclasses import replace

from ragchat.answering.retrieves import Retrieves
from ragchat.index.protocol import Scope
from ragchat.retrieval.adaptive import limited
from ragchat.retrieval.gate import judge
from ragchat.retrieval.trace import RetrievalTrace, Threshold

NEARER_BY = 0.05
"""Cosine distance: by less, every word moves a question."""


def retrieve_follow_up(retriever: Retrieves, question: str, follows: str, scope: Scope) -> RetrievalTrace:
    """The trace of `question` after `follows`. Raises as `Retriever.retrieve`."""
    both = retriever.retrieve(f"{follows} {question}", scope)
    earlier, alone = retriever.retrieve(follows, scope), retriever.retrieve(question, scope)
    if both.refused:
        return _told(alone, follows, alone)
    candidates = [
        candidate
        if candidate.distance < _distance(earlier, candidate.chunk_id) - NEARER_BY
        else replace(candidate, distance=max(candidate.distance, _distance(alone, candidate.chunk_id)))
        for candidate in both.candidates
    ]
    threshold = _no_higher_than_the_folders(both.threshold)
    judged = judge(candidates, threshold.value, len(both.sources))
    nearest = min(candidate.distance for candidate in judged)
    trace = replace(both, candidates=judged, threshold=threshold, nearest=nearest)
    return _told(alone if trace.refused else trace, follows, alone)


def _no_higher_than_the_folders(threshold: Threshold) -> Threshold:
    """A number that holds for every question alike is not touched."""
    if threshold.folders is None or threshold.value <= threshold.folders:
        return threshold
    parts = limited(threshold.folders, threshold.parts, 0.0, threshold.folders)
    return replace(threshold, value=threshold.folders, parts=parts)


def _told(trace: RetrievalTrace, follows: str, alone: RetrievalTrace) -> RetrievalTrace:
    literal = alone.literal if trace.refused else None
    return replace(trace, question=alone.question, follows=follows, literal=literal)


def _distance(trace: RetrievalTrace, chunk_id: int) -> float:
    """Of a passage that the trace does not list: at least that of the farthest it found by distance."""
    listed = {candidate.chunk_id: candidate.distance for candidate in trace.candidates}
    if chunk_id in listed:
        return listed[chunk_id]
    near = [candidate.distance for candidate in trace.candidates if candidate.dense_rank is not None]
    return max(near, default=2.0)
