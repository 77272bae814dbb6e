"""Decide on the numbers alone which candidates are evidence, before any model is asked.

Only the cosine distance of this question decides; ranks merely say who comes first. A passage that the user
lets through by hand is the one exception, and even that needs a distance that is a number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ragchat.chunking.chunk import Chunk
from ragchat.retrieval.trace import Candidate, Verdict

NOBODY: frozenset[int] = frozenset()


def judge(
    candidates: Sequence[Candidate],
    threshold: float,
    limit: int,
    admit: AbstractSet[int] = NOBODY,
) -> tuple[Candidate, ...]:
    """The same candidates in the same (fused) order, each with its verdict, the sent ones numbered 1..n.

    threshold: the largest cosine distance that is evidence.
    limit: at most so many are sent.
    admit: chunk ids that the user lets through; they are chosen before the others, and numbered in order.
    """
    verdicts: dict[int, Verdict] = {}
    sent: list[Chunk] = []
    for candidate in sorted(candidates, key=lambda candidate: candidate.chunk_id not in admit):
        if not _is_evidence(candidate, threshold, admit):
            verdicts[candidate.chunk_id] = "too far"
        elif any(same_passage(candidate.chunk, chunk) for chunk in sent):
            verdicts[candidate.chunk_id] = "duplicate"
        elif len(sent) >= limit:
            verdicts[candidate.chunk_id] = "beyond top k"
        else:
            verdicts[candidate.chunk_id] = "sent"
            sent.append(candidate.chunk)
    return _numbered(candidates, verdicts)


def _is_evidence(candidate: Candidate, threshold: float, admit: AbstractSet[int]) -> bool:
    if math.isnan(candidate.distance):
        return False
    return candidate.distance <= threshold or candidate.chunk_id in admit


def _numbered(candidates: Sequence[Candidate], verdicts: dict[int, Verdict]) -> tuple[Candidate, ...]:
    judged: list[Candidate] = []
    number = 0
    for candidate in candidates:
        verdict = verdicts[candidate.chunk_id]
        if verdict != "sent":
            # Most are as they came: making eighty anew takes as long as searching for them by words.
            if (candidate.verdict, candidate.number, candidate.also_in) != (verdict, None, ()):
                candidate = replace(candidate, verdict=verdict, number=None, also_in=())
            judged.append(candidate)
            continue
        number += 1
        also_in = _also_in(candidate.chunk, candidates)
        judged.append(replace(candidate, verdict=verdict, number=number, also_in=also_in))
    return tuple(judged)


def _also_in(chunk: Chunk, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The other documents in which the same content was found."""
    found = {each.chunk.document for each in candidates if _same_words(each.chunk.content, chunk.content)}
    return tuple(sorted(found - {chunk.document}))


def same_passage(one: Chunk, other: Chunk) -> bool:
    """Whether the two would show the reader the same words twice.

    True for the same content (white space aside, so that a copy with other newlines is one), and for ranges
    of one document that share at least half of the shorter one.
    """
    if one.document == other.document:
        shared = min(one.end, other.end) - max(one.start, other.start)
        shorter = min(one.end - one.start, other.end - other.start)
        if shared > 0 and 2 * shared >= shorter:
            return True
    return _same_words(one.content, other.content)


def _same_words(one: str, other: str) -> bool:
    """Whether only white space differs. Nearly always the first letter tells that more does."""
    first, second = one[:1], other[:1]
    if first != second and not (first.isspace() or second.isspace()):
        return False
    return one.split(maxsplit=2)[:2] == other.split(maxsplit=2)[:2] and one.split() == other.split()
