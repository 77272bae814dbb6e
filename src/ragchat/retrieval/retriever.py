"""A question becomes a trace: two searches, one order, one judgement.

The index proposes; here the proposals are fused, every distance is computed from the vectors themselves, and
the gate judges. Nothing of an earlier question is known here, so history can never be evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from time import perf_counter

import numpy as np

from ragchat.chunking.graphemes import has_visible
from ragchat.embedding.embedder import Embedder, EmbedderStamp, Vector
from ragchat.errors import IndexStale, UsageError
from ragchat.index.protocol import Scope, Snapshot
from ragchat.index.source import Source
from ragchat.index.tokens import tokenize
from ragchat.retrieval.adaptive import LARGEST_STEPS, Kind, limited
from ragchat.retrieval.gate import NOBODY, judge
from ragchat.retrieval.identifiers import is_code
from ragchat.retrieval.late import Closeness, rank_scores
from ragchat.retrieval.legibility import can_read
from ragchat.retrieval.literal import find_literal
from ragchat.retrieval.neighbours import with_neighbours
from ragchat.retrieval.reranker import Reranker
from ragchat.retrieval.search import (
    DEPTH,
    Asked,
    Found,
    asked_with,
    candidates_of,
    closeness_of,
    find,
    reordered,
)
from ragchat.retrieval.signals import LOOKED_AT, STANDING_OUT, late_signals, plain_signals
from ragchat.retrieval.trace import Candidate, LiteralMatch, RetrievalTrace, Threshold, ThresholdPart
from ragchat.settings import RetrievalSettings

EVERYWHERE = Scope()

LONGEST_QUESTION = 20_000
"""Characters: half a second's work for the encoder. A megabyte, pasted by mistake, took it minutes."""


@dataclass(frozen=True, slots=True)
class _Tried:
    judged: tuple[Candidate, ...]
    threshold: Threshold
    literal: LiteralMatch | None
    rerank_ms: float


class Retriever:
    """Answers "what in the notes is close to this question?" over one snapshot.

    Raises IndexStale when the snapshot was made by another embedder: their vectors are never compared.
    As safe to call from several threads as the snapshot and the embedder are.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        embedder: Embedder,
        settings: RetrievalSettings,
        threshold: Threshold,
        reranker: Reranker | None = None,
    ) -> None:
        require_same_embedder(snapshot.stamp.embedder, embedder.stamp)
        self._snapshot = snapshot
        self._embedder = embedder
        self._settings = settings
        self._threshold = threshold
        self._reranker = reranker

    def sources(self) -> Mapping[str, Source]:
        """Every file that a filter may choose, by name."""
        return self._snapshot.sources()

    def retrieve(
        self,
        question: str,
        scope: Scope = EVERYWHERE,
        admit: AbstractSet[int] = NOBODY,
    ) -> RetrievalTrace:
        """Search, fuse, judge. A scope without chunks gives a refused trace whose nearest is None.

        admit: chunk ids that the user lets through the gate by hand, for this question only.
        Raises UsageError for a question without a visible character, and for one of more than
        `LONGEST_QUESTION`.
        """
        if not has_visible(question):
            raise UsageError("the question is empty", hint='ragchat ask "your question"')
        if len(question) > LONGEST_QUESTION:
            raise UsageError(
                f"the question has {len(question):,} characters, more than {LONGEST_QUESTION:,}",
                hint="put the long text into a note, and ask about it",
            )
        words = readable(question)

        started = perf_counter()
        asked = asked_with(self._embedder, words)
        embedded = perf_counter()
        tried = self._try(asked, scope, admit)
        if not _any_sent(tried.judged) and self._snapshot.approximate:
            # What an approximate search has missed never becomes a refusal.
            tried = self._try(asked, scope, admit, exact=True)

        return RetrievalTrace(
            question=question,
            scope=scope,
            candidates=tried.judged,
            threshold=tried.threshold,
            nearest=min((c.distance for c in tried.judged if not math.isnan(c.distance)), default=None),
            coverage=self._snapshot.coverage,
            literal=tried.literal if admit or not _any_sent(tried.judged) else None,
            timings_ms={
                "embed": (embedded - started) * 1000.0,
                "search": (perf_counter() - embedded) * 1000.0 - tried.rerank_ms,
                "rerank": tried.rerank_ms,
            },
        )

    def _try(self, asked: Asked, scope: Scope, admit: AbstractSet[int], *, exact: bool = False) -> _Tried:
        found = find(self._snapshot, asked, self._settings.candidates, scope, exact=exact)
        searched = perf_counter()
        late = self._settings.rerank == "late"
        met = self._closeness(asked, found) if late else None
        candidates = self._reranked(asked, found, met)
        rerank_ms = (perf_counter() - searched) * 1000.0
        threshold = self._threshold_for(asked, found, met, scope)
        judged = self._judge(candidates, threshold)
        literal: LiteralMatch | None = None
        if not _any_sent(judged):
            match = find_literal(asked.text, self._snapshot, scope, self._embedder.count_tokens)
            if match is not None:
                candidates = self._first(match.chunk_ids, candidates, asked.vector)
                threshold = self._lifted(threshold, match.term)
                literal = LiteralMatch(match.term, self._judge(candidates, threshold)[0])
            judged = self._judge(candidates, threshold, admit)
        elif admit:
            judged = self._judge(candidates, threshold, admit)
        if self._settings.neighbours and _any_sent(judged):
            judged = with_neighbours(judged, self._snapshot)
        return _Tried(judged, threshold, literal, rerank_ms)

    def _closeness(self, asked: Asked, found: Found) -> Closeness | None:
        first = found.candidates[:DEPTH]
        headers = [candidate.chunk.header_tokens for candidate in first]
        return closeness_of(self._snapshot, asked, [candidate.chunk_id for candidate in first], headers)

    def _reranked(self, asked: Asked, found: Found, met: Closeness | None) -> Sequence[Candidate]:
        first = found.candidates[:DEPTH]
        if self._reranker is not None:
            scores = self._reranker.scores(asked.text, [candidate.chunk for candidate in first])
            return reordered(found.candidates, scores)
        if met is None:
            return found.candidates
        distances = np.array([candidate.distance for candidate in first], dtype=np.float32)
        return reordered(found.candidates, rank_scores(met.whole, distances).tolist())

    def _threshold_for(self, asked: Asked, found: Found, met: Closeness | None, scope: Scope) -> Threshold:
        """The folder's threshold moved by this question's signals; as it stands where nothing may move it."""
        if not found.dense:
            return self._threshold
        kind: Kind = "plain" if met is None else "late"
        gate = next((gate for gate in self._threshold.gates if gate.kind == kind), None)
        if gate is None:
            return replace(self._threshold, gates=())
        if met is None:
            held = [set(tokenize(each.chunk.text)) for each in found.candidates[:LOOKED_AT]]
            signals = plain_signals(asked.text, found.dense, held, self._snapshot)
        else:
            signals = late_signals(asked.text, found.dense, met)
        parts = gate.parts(signals)
        if scope != EVERYWHERE:
            # In a part of the folder a passage lacks the competitors that it was measured against.
            parts = tuple(part for part in parts if part.name != STANDING_OUT or part.shift < 0)
        parts = gate.limited(parts)
        moved = gate.value(parts)
        if moved >= found.dense[0].value and not can_read(self._embedder.stamp, asked.text):
            # Distances are chance here: what words have put first is sent, once the question has passed.
            first = [candidate.distance for candidate in found.candidates[: self._settings.sources]]
            reach = max(moved, *(math.ceil(distance * 1000) / 1000 for distance in first if distance <= 2))
            parts = (*parts, ThresholdPart("order by words", reach - moved))
            moved = reach
        return replace(self._threshold, value=moved, gates=(), folders=gate.base, parts=parts)

    def _lifted(self, threshold: Threshold, term: str) -> Threshold:
        """Higher for a code that stands word for word in a note, as far as one signal may move it at most.

        A name does not lift it: among the questions that are refused though a note has their name, a hundred
        of three corpora had no answer, and one had it in that note.
        """
        gate = next(iter(self._threshold.gates), None)
        if gate is None or not is_code(term):
            return threshold
        lift = ThresholdPart(f"literal {term}", LARGEST_STEPS * gate.nearest.spread)
        parts = limited(gate.base, (*threshold.parts, lift), gate.closest, gate.farthest)
        return replace(threshold, value=gate.value(parts), parts=parts)

    def _judge(
        self, candidates: Sequence[Candidate], threshold: Threshold, admit: AbstractSet[int] = NOBODY
    ) -> tuple[Candidate, ...]:
        return judge(candidates, threshold.value, self._settings.sources, admit)

    def _first(
        self, chunk_ids: Sequence[int], candidates: Sequence[Candidate], vector: Vector
    ) -> list[Candidate]:
        """The same candidates with the best one of `chunk_ids` in front and at fused rank 1."""
        wanted = set(chunk_ids)
        known = next((candidate for candidate in candidates if candidate.chunk_id in wanted), None)
        front = known or candidates_of(self._snapshot, chunk_ids[:1], vector, {}, {})[0]
        rest = [candidate for candidate in candidates if candidate.chunk_id != front.chunk_id]
        fused = [front, *sorted(rest, key=lambda candidate: candidate.fused_rank)]
        ranks = {candidate.chunk_id: rank for rank, candidate in enumerate(fused, start=1)}
        return [replace(candidate, fused_rank=ranks[candidate.chunk_id]) for candidate in (front, *rest)]


def readable(question: str) -> str:
    """What a terminal could not decode arrives as lone surrogates, which no tokenizer takes."""
    return question.encode("utf-8", "replace").decode()


def require_same_embedder(indexed: EmbedderStamp, used: EmbedderStamp) -> None:
    """Raise IndexStale, naming both embedders and what differs, unless the two stamps are equal."""
    if indexed == used:
        return
    ours, theirs = asdict(used), asdict(indexed)
    differing = [name for name in ours if ours[name] != theirs[name] and name != "model"]
    raise IndexStale(
        f"this index was made by {_described(indexed.model, theirs, differing)}, "
        f"the embedder in use is {_described(used.model, ours, differing)}",
        hint="ragchat index --rebuild",
    )


def _described(model: str, stamp: Mapping[str, object], differing: Sequence[str]) -> str:
    details = ", ".join(f"{name.replace('_', ' ')} {str(stamp[name])[:40] or 'none'}" for name in differing)
    return f"{model} ({details})" if details else model


def _any_sent(candidates: Sequence[Candidate]) -> bool:
    return any(candidate.verdict == "sent" for candidate in candidates)
