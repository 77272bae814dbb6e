"""A snapshot of a folder that is embedded in part: what the index holds, and passages that wait for it.

The waiting passages are of the documents that hold the question's words best. Those that hold them best are
embedded here and now, so that every distance is a real one; the index's own passages are searched as always.
A document that waits hides its old version: the two never mix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.embedding.embedder import Embedder, Int8Matrix, Matrix, Vector
from ragchat.index.embedded import EmbeddedTexts
from ragchat.index.packing import text_digest
from ragchat.index.protocol import Coverage, Hit, IndexStamp, Scope, Snapshot
from ragchat.index.source import Source
from ragchat.index.tokens import tokenize
from ragchat.index.waiting import View
from ragchat.index.words import idf, scores_of

AT_ONCE = 24
"""Waiting passages that are embedded for one question: about half a second."""
_CHARACTERS_OF_A_CHUNK = 380
"""On an average of three corpora; tells how many passages the waiting documents will have."""


@dataclass(frozen=True)
class Overlay:
    """Implements `Snapshot` for one question. Waiting passages have negative ids.

    base: what the index holds; None where it is of another stamp, or there is none yet.
    waiting: passages of the waiting documents that `view` names best. known: those that have vectors; what
    `embedder` makes is added.
    """

    stamp: IndexStamp
    base: Snapshot | None
    view: View
    waiting: Sequence[Chunk]
    known: EmbeddedTexts
    embedder: Embedder
    question: Sequence[str]
    _digests: list[str] = field(default_factory=list)
    _tokens: list[list[str]] = field(default_factory=list)
    _scores: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Rank the waiting passages, and embed the best."""
        self._digests.extend(text_digest(chunk.text) for chunk in self.waiting)
        self._tokens.extend(tokenize(chunk.text) for chunk in self.waiting)
        weights = {token: idf(self.view.rows, count) for token, count in self.view.frequencies.items()}
        self._scores.extend(scores_of(self._tokens, self.question, weights))
        best = sorted(range(len(self.waiting)), key=lambda at: -self._scores[at])[:AT_ONCE]
        self._embed([at for at in best if self._scores[at] > 0])

    @property
    def coverage(self) -> Coverage:
        """Documents of the index that are not hidden, and those that wait."""
        base = self.base.coverage if self.base is not None else Coverage(0, 0, 0)
        view, hidden = self.view, self.view.hidden
        return Coverage(
            indexed=max(0, base.indexed - hidden.get("indexed", 0)),
            failed=max(0, base.failed - hidden.get("failed", 0)),
            stale=max(0, base.stale - hidden.get("stale", 0)),
            changed=view.edited,
            pending=len(view.names) + view.unread - view.edited,
            by_words=len(view.names),
        )

    def sources(self) -> Mapping[str, Source]:
        """Every file that can be searched, as it is now."""
        base = self.base.sources() if self.base is not None else {}
        shown = {name: source for name, source in base.items() if name not in self.view.gone}
        return shown | {source.name: source for source in self.view.sources}

    @property
    def chunk_count(self) -> int:
        """How many passages there are, those of the waiting documents estimated."""
        return (self.base.chunk_count if self.base else 0) + self.view.characters // _CHARACTERS_OF_A_CHUNK

    @property
    def approximate(self) -> bool:
        """As the index is."""
        return self.base is not None and self.base.approximate

    def dense(self, question: Vector, limit: int, scope: Scope, *, exact: bool = False) -> list[Hit]:
        """Nearest passages among those that have vectors."""
        found = self._of_base(self.base.dense(question, 2 * limit, scope, exact=exact)) if self.base else []
        rows = [
            at
            for at, digest in enumerate(self._digests)
            if digest in self.known and scope.admits(self.waiting[at].document)
        ]
        if rows:
            cosines = self.known.matrix([self._digests[at] for at in rows]) @ question
            found += [Hit(-1 - at, float(np.clip(1 - c, 0, 2))) for at, c in zip(rows, cosines, strict=True)]
        return sorted(found, key=lambda hit: hit.value)[:limit]

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        """Best passages by BM25, among the waiting ones those that were embedded for this question."""
        found = self._of_base(self.base.lexical(tokens, 2 * limit, scope)) if self.base else []
        found += [
            Hit(-1 - at, score)
            for at, score in enumerate(self._scores)
            if score > 0 and self._digests[at] in self.known and scope.admits(self.waiting[at].document)
        ]
        return sorted(found, key=lambda hit: -hit.value)[:limit]

    def containing(self, token: str, scope: Scope, limit: int) -> list[int]:
        """Ids of the passages that hold this token, waiting ones of the documents at hand first."""
        found = [
            -1 - at
            for at, tokens in enumerate(self._tokens)
            if token in tokens and scope.admits(self.waiting[at].document)
        ]
        if self.base is not None:
            hits = [Hit(chunk_id, 0.0) for chunk_id in self.base.containing(token, scope, limit)]
            found += [hit.chunk_id for hit in self._of_base(hits)]
        return found[:limit]

    def document_frequency(self, token: str) -> int:
        """In how many passages the token stands, those of waiting documents counted by the page."""
        base = self.base.document_frequency(token) if self.base else 0
        return base + self.view.frequencies.get(token, sum(token in tokens for tokens in self._tokens))

    def chunks(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        """The passages, in the order asked for."""
        kept = [chunk_id for chunk_id in chunk_ids if chunk_id >= 0]
        found = dict(zip(kept, self.base.chunks(kept) if self.base else [], strict=True))
        return [found[key] if key >= 0 else self.waiting[-1 - key] for key in chunk_ids]

    def neighbours(self, chunk_ids: Sequence[int]) -> list[tuple[Chunk | None, Chunk | None]]:
        """The passages right before and after each in the same section of its document."""
        return [
            (self._beside(-1 - key, -1), self._beside(-1 - key, 1))
            if key < 0 or self.base is None
            else self.base.neighbours([key])[0]
            for key in chunk_ids
        ]

    def _beside(self, at: int, step: int) -> Chunk | None:
        here = self.waiting[at]
        there = self.waiting[at + step] if 0 <= at + step < len(self.waiting) else None
        same = there is not None and (there.document, there.section) == (here.document, here.section)
        return there if same else None

    def vectors(self, chunk_ids: Sequence[int]) -> Matrix:
        """Their unit vectors, made where there are none yet."""
        self._embed([-1 - key for key in chunk_ids if key < 0])
        kept = [chunk_id for chunk_id in chunk_ids if chunk_id >= 0]
        found: Mapping[int, Vector] = dict(
            zip(kept, self.base.vectors(kept) if self.base else [], strict=True)
        )
        rows = [
            found[key] if key >= 0 else self.known.matrix([self._digests[-1 - key]])[0] for key in chunk_ids
        ]
        return np.stack(rows) if rows else np.zeros((0, self.stamp.embedder.dimensions), np.float32)

    def token_vectors(self, chunk_ids: Sequence[int]) -> Sequence[Int8Matrix] | None:
        """Their tokens' vectors, made where there are none yet; None where the embedder gives none."""
        if not self.known.token_dimensions:
            return None
        self._embed([-1 - key for key in chunk_ids if key < 0])
        kept = [chunk_id for chunk_id in chunk_ids if chunk_id >= 0]
        rows = self.base.token_vectors(kept) if self.base and kept else []
        if rows is None:
            return None
        found = dict(zip(kept, rows, strict=True))
        return [
            found[key] if key >= 0 else self.known.tokens([self._digests[-1 - key]])[0] for key in chunk_ids
        ]

    def dense_of_each(self, questions: Matrix, limit: int) -> list[list[Hit]]:
        """`dense` of each question (row), everywhere."""
        return [self.dense(question, limit, Scope()) for question in questions]

    def _embed(self, rows: Sequence[int]) -> None:
        texts = {self._digests[at]: self.waiting[at].text for at in rows}
        texts = {digest: text for digest, text in texts.items() if digest not in self.known}
        if texts:
            self.known.embed(self.embedder, texts)

    def _of_base(self, hits: Sequence[Hit]) -> list[Hit]:
        """Without those of documents that wait or are gone."""
        if self.base is None or not (self.view.names or self.view.gone):
            return list(hits)
        chunks = self.base.chunks([hit.chunk_id for hit in hits])
        return [hit for hit, chunk in zip(hits, chunks, strict=True) if self._shows(chunk.document)]

    def _shows(self, document: str) -> bool:
        return document not in self.view.names and document not in self.view.gone
