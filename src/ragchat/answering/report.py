"""Answers, searches and states as the plain objects that `--json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragchat.answering.escape import escape_line
from ragchat.retrieval.trace import Candidate, RetrievalTrace

if TYPE_CHECKING:
    from ragchat.answering.events import Answer, Context
    from ragchat.answering.status import FolderStatus
    from ragchat.documents.document import FailedDocument
    from ragchat.index.progress import IndexReport

_TIMINGS = ("embed", "search", "rerank", "first_token", "total")


def section_label(section: Iterable[str]) -> str:
    """`Lease > Term`, on one line."""
    return " > ".join(escape_line(heading) for heading in section)


def locator(candidate: Candidate) -> str:
    """`#char=1204,1690`, and `#page=12` and the like beside it where the format has one."""
    chunk = candidate.chunk
    characters = f"#char={chunk.start},{chunk.end}"
    return f"{characters}&{chunk.locator}" if chunk.locator else characters


def answer_json(answer: Answer) -> dict[str, Any]:
    """The one object of `ask --json`."""
    trace, refused = answer.trace, answer.outcome == "refused"
    context = answer.context
    return {
        "question": trace.question,
        **({"follows": trace.follows} if trace.follows else {}),
        **_filters(trace),
        "refused": refused,
        "answer": None if refused else answer.text,
        "message": answer.message,
        "threshold": trace.threshold.value,
        "threshold_from": trace.threshold.origin,
        "nearest": trace.nearest,
        "answered_by": answer.answered_by,
        "model": answer.model,
        "sources": [_source(candidate, answer.cited) for candidate in trace.sources],
        "invalid_citations": list(answer.invalid_citations),
        "coverage": _coverage(trace),
        "abstained": answer.abstained,
        "context": None if context is None else _context(context),
        "timings_ms": {name: _milliseconds(answer.timings_ms, name) for name in _timed(answer)},
        "outcome": answer.outcome,
        "notice": answer.notice,
        "error": answer.error,
        "hint": answer.hint,
        "more_tokens": answer.more_tokens,
        "pull": answer.pull,
        "quotes": [
            {"n": quote.number, "start": quote.start, "end": quote.end, "text": quote.text}
            for quote in answer.quotes
        ],
        **({"candidates": _candidates(trace), "literal": _literal(trace)} if refused else {}),
    }


def search_json(trace: RetrievalTrace) -> dict[str, Any]:
    """The one object of `search --json`."""
    return {
        "question": trace.question,
        **_filters(trace),
        "threshold": trace.threshold.value,
        "refused": trace.refused,
        "sources": [_source(candidate, frozenset()) for candidate in trace.sources],
        "candidates": _candidates(trace),
    }


def status_json(status: FolderStatus) -> dict[str, Any]:
    """The one object of `status --json`."""
    stamp, threshold = status.stamp, status.threshold
    return {
        "folder": str(status.folder),
        "documents": {
            "indexed": status.indexed,
            "failed": status.failed,
            "skipped": sum(status.skipped.values()),
            "stale": status.stale,
        },
        "failures": _failures(status.failures),
        "skipped": dict(status.skipped),
        "gaps": _gaps(status.gaps),
        "chunks": status.chunks,
        "disk_bytes": status.disk_bytes,
        "stamp": None
        if stamp is None
        else {
            "embedder": stamp.embedder.model,
            "dimensions": stamp.embedder.dimensions,
            "weights": stamp.embedder.weights,
            "chunker": stamp.chunker,
            "extractors": list(status.extractors),
        },
        "threshold": None if threshold is None else threshold.value,
        "threshold_from": None if threshold is None else threshold.origin,
        **({"library": status.library} if status.library else {}),
    }


def index_json(report: IndexReport) -> dict[str, Any]:
    """The one object of `index --json`."""
    return {
        "documents": {
            "indexed": report.indexed,
            "added": report.added,
            "updated": report.updated,
            "moved": report.moved,
            "removed": report.removed,
            "unchanged": report.unchanged,
            "failed": len(report.failures),
            "skipped": sum(report.skipped.values()),
            "pending": report.pending,
        },
        "failures": _failures(report.failures),
        "skipped": dict(report.skipped),
        "gaps": _gaps(report.gaps),
        "chunks": report.chunks,
        "chunks_embedded": report.chunks_embedded,
        "seconds": round(report.seconds, 3),
        "complete": report.complete,
        "warning": report.warning,
        "embedding_error": report.embedding_error,
        "contexts": asdict(report.contexts) if report.contexts else None,
    }


def _context(context: Context) -> dict[str, Any]:
    """The evidence receipt."""
    return {
        "prompt_tokens": context.prompt_tokens,
        "num_ctx": context.num_ctx,
        "truncated": context.truncated,
        "counted": context.counted,
        "sources": context.sources,
        "did_not_fit": context.dropped,
        "model": context.model,
        "digest": context.digest,
        "temperature": context.temperature,
        "seed": context.seed,
        "num_predict": context.num_predict,
        "answer_tokens": context.answer_tokens,
        "thinking": context.thinking,
    }


def _failures(failures: Iterable[FailedDocument]) -> list[dict[str, str]]:
    return [
        {"document": failure.name, "reason": failure.reason, "hint": failure.hint} for failure in failures
    ]


def _gaps(gaps: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    return [{"document": name, "missing": list(missing)} for name, missing in gaps.items()]


def _source(candidate: Candidate, cited: frozenset[int]) -> dict[str, Any]:
    return {
        "n": candidate.number,
        **_place(candidate),
        "quote": candidate.chunk.content,
        "cited": candidate.number in cited,
        **_ranks(candidate),
        **({"also_in": list(candidate.also_in)} if candidate.also_in else {}),
    }


def _candidates(trace: RetrievalTrace) -> list[dict[str, Any]]:
    fused = sorted(trace.candidates, key=lambda candidate: candidate.fused_rank)
    return [{**_place(candidate), **_ranks(candidate)} for candidate in fused]


def _literal(trace: RetrievalTrace) -> dict[str, Any] | None:
    """What a refusal by distance offers all the same."""
    if trace.literal is None:
        return None
    return {"term": trace.literal.term, **_place(trace.literal.candidate)}


def _place(candidate: Candidate) -> dict[str, Any]:
    chunk = candidate.chunk
    return {
        "document": chunk.document,
        "section": " > ".join(chunk.section),
        "locator": locator(candidate),
        "start": chunk.start,
        "end": chunk.end,
        "distance": candidate.distance,
    }


def _ranks(candidate: Candidate) -> dict[str, Any]:
    return {
        "dense_rank": candidate.dense_rank,
        "bm25_rank": candidate.bm25_rank,
        "fused_rank": candidate.fused_rank,
        "rerank_score": candidate.rerank_score,
        "verdict": candidate.verdict,
    }


def _coverage(trace: RetrievalTrace) -> dict[str, int]:
    coverage = trace.coverage
    return {
        "indexed": coverage.indexed,
        "failed": coverage.failed,
        "stale": coverage.stale + coverage.changed,
        **({"outside": coverage.outside} if trace.filters else {}),
        **({"pending": coverage.pending, "by_words": coverage.by_words} if coverage.pending else {}),
    }


def _filters(trace: RetrievalTrace) -> dict[str, Any]:
    """What was asked for, and how many notes it left; nothing where nothing was."""
    if not trace.filters:
        return {}
    asked = {name: value for name, value in asdict(trace.filters).items() if value}
    coverage = trace.coverage
    return {
        "filters": {"text": str(trace.filters), **asked, "notes": coverage.indexed + coverage.by_words},
    }


def _timed(answer: Answer) -> tuple[str, ...]:
    return (*_TIMINGS, "thinking") if "thinking" in answer.timings_ms else _TIMINGS


def _milliseconds(timings: Mapping[str, float], name: str) -> float | None:
    value = timings.get(name)
    return None if value is None else round(value, 1)
