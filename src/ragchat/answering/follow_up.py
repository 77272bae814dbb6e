"""A question that was asked as a follow-up: searched together with the one before, judged on its own.

"And the notice period?" means little without the question before it. But searched together, anything at all
would find the evidence of that question once more: "hello" after a hit is still near to the hit. So a passage
counts at its distance from both together only where the new question brings it nearer than the earlier one
had it, or where it is what the new question finds first by itself and holds a word of it; everywhere else at
its distance from the new question alone. The threshold is that of both together and at most the folder's:
what loosens the gate for the earlier question says nothing about the new one. The new question's own is no
measure: it has few words and names no topic, which is why it is a follow-up.

Once the new question has passed, what both together find is sent: the answer often stands in the passage that
answered the first.

Measured on the sample notes with 22 follow-ups: 17 find evidence, 16 the passage with the answer (11 before a
question's own first passage counted and before what both find was sent). Of 217 off-topic ones 2.8 % find
something (1.8 % asked alone); over two notes only, 4.6 %.
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
    threshold = _no_higher_than_the_folders(both.threshold)
    own = _found_first(alone)
    sent = {source.chunk_id for source in both.sources}
    candidates = [
        candidate
        if candidate.distance < _distance(earlier, candidate.chunk_id) - NEARER_BY
        or (candidate.chunk_id == own and own in sent)
        else replace(candidate, distance=max(candidate.distance, _distance(alone, candidate.chunk_id)))
        for candidate in both.candidates
    ]
    if any(candidate.distance <= threshold.value for candidate in candidates):
        found = {candidate.chunk_id: candidate for candidate in both.candidates if candidate.chunk_id in sent}
        candidates = [found.get(candidate.chunk_id, candidate) for candidate in candidates]
    judged = judge(candidates, threshold.value, len(both.sources))
    nearest = min(candidate.distance for candidate in judged)
    trace = replace(both, candidates=judged, threshold=threshold, nearest=nearest)
    return _told(alone if trace.refused else trace, follows, alone)


def _found_first(trace: RetrievalTrace) -> int | None:
    """The passage that a question puts first, if it holds a word of it: else it is first by chance."""
    first = trace.candidates[0] if trace.candidates else None
    return first.chunk_id if first is not None and first.bm25_rank is not None else None


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
