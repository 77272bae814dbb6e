"""Traces and questions made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ragchat.chunking.chunk import Chunk
from ragchat.evaluation.outcome import Outcome, Ranks
from ragchat.evaluation.questions import Gold, Question
from ragchat.index.protocol import Coverage, Scope
from ragchat.retrieval.trace import Candidate, RetrievalTrace, Threshold
from tests.retrieval.doubles import passage

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def chunk_at(start: int, end: int, document: str = "note.md") -> Chunk:
    """A chunk of this range; its words do not matter."""
    return replace(passage("x" * (end - start), document, start=start), tokens=10, header_tokens=2)


def candidate(
    chunk: Chunk,
    number: int,
    *,
    distance: float = 0.3,
    dense: int | None = None,
    bm25: int | None = None,
    sent: bool = False,
) -> Candidate:
    return Candidate(
        chunk_id=number,
        chunk=chunk,
        distance=distance,
        dense_rank=dense,
        bm25_rank=bm25,
        bm25_score=None,
        fused_rank=number,
        rerank_score=None,
        verdict="sent" if sent else "too far",
        number=number if sent else None,
    )


def trace_of(candidates: Sequence[Candidate], threshold: float = 0.5) -> RetrievalTrace:
    return RetrievalTrace(
        question="?",
        scope=Scope(),
        candidates=tuple(candidates),
        threshold=Threshold(threshold, "auto"),
        nearest=min((found.distance for found in candidates), default=None),
        coverage=Coverage(1, 0, 0),
        literal=None,
        timings_ms={"embed": 3.0, "search": 1.0},
    )


def asked(identity: str, *golds: tuple[int, int], kind: str = "", group: str = "") -> Question:
    spans = tuple(Gold("note.md", start, end) for start, end in golds)
    return Question(identity, f"{identity}?", spans, group or identity, kind)


def outcome_of(
    question: str,
    rank: int | None = None,
    *,
    nearest: float = 0.3,
    threshold: float = 0.5,
) -> Outcome:
    """An outcome whose gold has this rank everywhere, refused by its distance alone."""
    ranks = Ranks(rank, rank, rank, rank, (100, 200), (20, 40))
    refused = nearest > threshold
    return Outcome(
        question=question,
        ranks=dict.fromkeys(("dense", "bm25", "hybrid", "ragchat"), ranks),
        nearest=nearest,
        threshold=threshold,
        unlimited=threshold,
        refused=refused,
        sent=0 if refused else 1,
        sent_whole=not refused and rank == 1,
        sent_every=not refused and rank == 1,
        milliseconds=4.0,
    )


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path
