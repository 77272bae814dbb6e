"""What one question's trace amounts to, as numbers only: everything later is counted from these.

Four rankings are read from one trace: the dense search, BM25, their fusion (RRF), and the order in which
ragchat takes its sources, whatever reranked it last. A passage counts with its overlap: that is what is sent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, get_args

from ragchat.chunking.chunk import Chunk
from ragchat.evaluation.questions import Gold, Question
from ragchat.retrieval.trace import LIMIT, Candidate, RetrievalTrace

Ranking = Literal["dense", "bm25", "hybrid", "ragchat"]
RANKINGS: tuple[Ranking, ...] = get_args(Ranking)

DEPTH = 20
"""Up to this rank what would be passed on is counted."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """At which rank (from 1) of one ranking the answer was found; None: not among the candidates.

    whole: the first gold span whole in one chunk. every: when each of the answer's gold spans had been whole
    in a chunk. half: at least half of the first span in one chunk. document: any chunk of its note.
    characters, tokens: of the first 1, 2, … `DEPTH` chunks together.
    """

    whole: int | None
    every: int | None
    half: int | None
    document: int | None
    characters: tuple[int, ...]
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question asked.

    nearest, threshold: cosine distances; nearest is infinite where there was no candidate.
    unlimited: the threshold before it was kept within the folder's reach.
    sent: chunks passed on. sent_whole, sent_every: whether the gold is among them, as in `Ranks`.
    milliseconds: from the question to the judged candidates.
    """

    question: str
    ranks: dict[Ranking, Ranks]
    nearest: float
    threshold: float
    unlimited: float
    refused: bool
    sent: int
    sent_whole: bool
    sent_every: bool
    milliseconds: float

    @property
    def excess(self) -> float:
        """How far the nearest passage lies beyond the question's own threshold; refused above 0.

        Within it, what counts is the threshold before its limit: that is what `ragchat calibrate` moves.
        """
        return self.nearest - (self.unlimited if self.nearest <= self.threshold else self.threshold)


def observe(question: Question, trace: RetrievalTrace) -> Outcome:
    """The trace of this question as numbers."""
    sent = [candidate.chunk for candidate in trace.sources]
    found = _ranks(question.golds, sent)
    limits = [part.shift for part in trace.threshold.parts if part.name == LIMIT]
    return Outcome(
        question=question.id,
        ranks={ranking: _ranks(question.golds, _ranked(trace, ranking)) for ranking in RANKINGS},
        nearest=math.inf if trace.nearest is None else trace.nearest,
        threshold=trace.threshold.value,
        unlimited=trace.threshold.value - sum(min(0.0, taken) for taken in limits),
        refused=trace.refused,
        sent=len(sent),
        sent_whole=found.whole is not None,
        sent_every=found.every is not None,
        milliseconds=sum(trace.timings_ms.values()),
    )


def _ranked(trace: RetrievalTrace, ranking: Ranking) -> list[Chunk]:
    """The candidates' chunks in the order of one ranking."""
    if ranking == "ragchat":
        return [candidate.chunk for candidate in trace.candidates]

    def rank(candidate: Candidate) -> int | None:
        if ranking == "hybrid":
            return candidate.fused_rank
        return candidate.dense_rank if ranking == "dense" else candidate.bm25_rank

    placed = [(place, candidate) for candidate in trace.candidates if (place := rank(candidate)) is not None]
    return [candidate.chunk for _, candidate in sorted(placed, key=lambda pair: pair[0])]


def _ranks(golds: Sequence[Gold], chunks: Sequence[Chunk]) -> Ranks:
    passed = chunks[:DEPTH]
    first = golds[0] if golds else None
    each = [_first_rank(chunks, gold, 1.0) for gold in golds]
    whole = [rank for rank in each if rank is not None]
    return Ranks(
        whole=each[0] if each else None,
        every=max(whole) if golds and len(whole) == len(golds) else None,
        half=_first_rank(chunks, first, 0.5) if first else None,
        document=next(
            (rank for rank, chunk in enumerate(chunks, 1) if first and chunk.document == first.document), None
        ),
        characters=tuple(accumulate(chunk.end - chunk.context_start for chunk in passed)),
        tokens=tuple(accumulate(chunk.tokens - chunk.header_tokens for chunk in passed)),
    )


def _first_rank(chunks: Sequence[Chunk], gold: Gold, share: float) -> int | None:
    """The rank of the first chunk that holds this share of the span."""
    for rank, chunk in enumerate(chunks, start=1):
        if chunk.document == gold.document:
            held = min(chunk.end, gold.end) - max(chunk.context_start, gold.start)
            if held >= share * (gold.end - gold.start):
                return rank
    return None
