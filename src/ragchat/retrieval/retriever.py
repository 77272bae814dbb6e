"""A question becomes a trace: two searches, one order, one judgement.

The index proposes; here the proposals are fused, every distance is computed from the vectors themselves, and
the gate judges. Nothing of an earlier question is known here, so history can never be evidence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, replace
from time import perf_counter

import numpy as np

from ragchat.chunking.graphemes import has_visible
from ragchat.embedding.embedder import Embedder, EmbedderStamp, Vector
from ragchat.errors import IndexStale, UsageError
from ragchat.index.protocol import Hit, Scope, Snapshot
from ragchat.index.tokens import tokenize
from ragchat.retrieval.fusion import fuse
from ragchat.retrieval.gate import NOBODY, judge
from ragchat.retrieval.literal import find_literal
from ragchat.retrieval.trace import Candidate, LiteralMatch, RetrievalTrace, Threshold
from ragchat.settings import RetrievalSettings

EVERYWHERE = Scope()

LONGEST_QUESTION = 20_000
"""Characters: half a second's work for the encoder. A megabyte, pasted by mistake, took it minutes."""


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
    ) -> None:
        require_same_embedder(snapshot.stamp.embedder, embedder.stamp)
        self._snapshot = snapshot
        self._embedder = embedder
        self._settings = settings
        self._threshold = threshold

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
        vector = self._embedder.embed_question(words)
        embedded = perf_counter()
        candidates = self._search(words, vector, scope)
        judged = self._judge(candidates)
        literal: LiteralMatch | None = None
        if not _any_sent(judged):
            found = find_literal(words, self._snapshot, scope, self._embedder.count_tokens)
            if found is not None:
                candidates = self._first(found.chunk_ids, candidates, vector)
                literal = LiteralMatch(found.term, self._judge(candidates)[0])
            judged = self._judge(candidates, admit)
        elif admit:
            judged = self._judge(candidates, admit)
        searched = perf_counter()

        return RetrievalTrace(
            question=question,
            scope=scope,
            candidates=judged,
            threshold=self._threshold,
            nearest=min((c.distance for c in judged if not math.isnan(c.distance)), default=None),
            coverage=self._snapshot.coverage,
            literal=None if _any_sent(judged) else literal,
            timings_ms={
                "embed": (embedded - started) * 1000.0,
                "search": (searched - embedded) * 1000.0,
                "rerank": 0.0,
            },
        )

    def _judge(
        self, candidates: Sequence[Candidate], admit: AbstractSet[int] = NOBODY
    ) -> tuple[Candidate, ...]:
        return judge(candidates, self._threshold.value, self._settings.sources, admit)

    def _search(self, question: str, vector: Vector, scope: Scope) -> list[Candidate]:
        """What either search proposes, in fused order, not judged yet."""
        limit = self._settings.candidates
        dense = self._snapshot.dense(vector, limit, scope)
        lexical = self._snapshot.lexical(tokenize(question), limit, scope)
        order = fuse([[hit.chunk_id for hit in hits] for hits in (dense, lexical)])
        return self._candidates(order, vector, _ranks(dense), _ranks(lexical), lexical)

    def _candidates(
        self,
        order: Sequence[int],
        vector: Vector,
        dense_ranks: Mapping[int, int],
        bm25_ranks: Mapping[int, int],
        lexical: Sequence[Hit] = (),
    ) -> list[Candidate]:
        scores = {hit.chunk_id: hit.value for hit in lexical}
        chunks = self._snapshot.chunks(order)
        return [
            Candidate(
                chunk_id=chunk_id,
                chunk=chunk,
                distance=distance,
                dense_rank=dense_ranks.get(chunk_id),
                bm25_rank=bm25_ranks.get(chunk_id),
                bm25_score=scores.get(chunk_id),
                fused_rank=rank,
                rerank_score=None,
                verdict="too far",
            )
            for rank, (chunk_id, chunk, distance) in enumerate(
                zip(order, chunks, self._distances(order, vector), strict=True), start=1
            )
        ]

    def _distances(self, chunk_ids: Sequence[int], vector: Vector) -> list[float]:
        """Cosine distances, one rule for all candidates, whichever search found them."""
        if not chunk_ids:
            return []
        cosines = self._snapshot.vectors(chunk_ids).astype(np.float64) @ vector.astype(np.float64)
        # Rounding may put the cosine of a passage with itself a hair above 1; NaN stays NaN.
        return [float(distance) for distance in np.clip(1.0 - cosines, 0.0, 2.0)]

    def _first(
        self, chunk_ids: Sequence[int], candidates: Sequence[Candidate], vector: Vector
    ) -> list[Candidate]:
        """The same candidates with the best one of `chunk_ids` in front, ranks counted anew."""
        wanted = set(chunk_ids)
        known = next((candidate for candidate in candidates if candidate.chunk_id in wanted), None)
        front = known or self._candidates(chunk_ids[:1], vector, {}, {})[0]
        rest = [candidate for candidate in candidates if candidate.chunk_id != front.chunk_id]
        return [replace(candidate, fused_rank=rank) for rank, candidate in enumerate([front, *rest], start=1)]


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


def _ranks(hits: Sequence[Hit]) -> dict[int, int]:
    return {hit.chunk_id: rank for rank, hit in enumerate(hits, start=1)}
