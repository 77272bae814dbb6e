"""Questions to a folder that is being indexed: found by words at once, by meaning as far as it is embedded.

What holds the question's words best is embedded on the spot and judged by its real distance. The threshold is
a provisional one, and the trace's coverage says what was searched how.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from ragchat.answering.retrieves import EVERYWHERE, NOBODY
from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.embedding.embedder import Embedder
from ragchat.errors import IndexMissing, IndexStale
from ragchat.index.overlay import Overlay
from ragchat.index.packing import text_digest
from ragchat.index.protocol import Index, IndexStamp, Scope, Snapshot
from ragchat.index.source import Source
from ragchat.index.tokens import tokenize
from ragchat.index.waiting import Waiting
from ragchat.retrieval.provisional import provisional_threshold
from ragchat.retrieval.retriever import LONGEST_QUESTION, Retriever, readable
from ragchat.retrieval.threshold import refresh_threshold
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.settings import RetrievalSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragchat.chunking.chunk import Chunk
    from ragchat.documents.document import Document

READING_SECONDS = 2.5
"""So long a question waits for notes to be read: better than an answer out of some of them."""
_DOCUMENTS = 16
"""Waiting documents whose passages are looked at for one question."""
_MOST_CHARACTERS = 400_000
"""Of them, so much text is cut into passages at once: about a second. What is longer is indexed next."""


class RetrieverAtOnce:
    """Retrieves as `Retriever` does, from an index and what waits for it."""

    def __init__(
        self,
        index: Index,
        waiting: Waiting,
        embedder: Embedder,
        chunking: ChunkOptions,
        settings: RetrievalSettings,
    ) -> None:
        self._index = index
        self._waiting = waiting
        self._embedder = embedder
        self._chunking = chunking
        self._settings = settings

    def sources(self) -> Mapping[str, Source]:
        """Every file of the index and of what waits for it."""
        with self._waiting.question():
            self._waiting.wait_until_read(READING_SECONDS)
            view = self._waiting.view((), EVERYWHERE, 0)
        base = self._snapshot()
        known = base.sources() if base is not None else {}
        return {
            **{name: source for name, source in known.items() if name not in view.gone},
            **{source.name: source for source in view.sources},
        }

    def retrieve(
        self, question: str, scope: Scope = EVERYWHERE, admit: AbstractSet[int] = NOBODY
    ) -> RetrievalTrace:
        """Search, fuse, judge; see `Retriever.retrieve`. Raises IndexMissing before anything was read."""
        with self._waiting.question():
            self._waiting.wait_until_read(READING_SECONDS)
            return self._retrieve(question, scope, admit)

    def _retrieve(self, question: str, scope: Scope, admit: AbstractSet[int]) -> RetrievalTrace:
        tokens = tokenize(readable(question[:LONGEST_QUESTION]))
        # What waits is taken first: a document that is committed in between is then seen twice, never missed.
        view = self._waiting.view(tokens, scope, _DOCUMENTS)
        base = self._snapshot()
        # A rebuild beside the index in use leaves that whole: it goes on answering.
        if base is not None and (view.is_empty or self._index.building is not None):
            threshold = refresh_threshold(self._index, self._embedder, self._settings)
            return Retriever(base, self._embedder, self._settings, threshold).retrieve(question, scope, admit)
        chunks = self._passages(view.best)
        digests = [text_digest(chunk.text) for chunk in chunks]
        known = self._waiting.embedded
        known.token_dimensions = self._embedder.token_dimensions
        known.take_indexed(self._index, [digest for digest in digests if digest not in known])
        overlay = Overlay(
            stamp=base.stamp if base else IndexStamp(self._embedder.stamp, self._chunking.stamp),
            base=base,
            view=view,
            waiting=chunks,
            known=known,
            embedder=self._embedder,
            question=tokens,
        )
        coverage = overlay.coverage
        if not coverage.indexed + coverage.by_words:
            raise IndexMissing("none of the notes has been read yet", hint="ask again in a moment")
        threshold = provisional_threshold(self._index, self._embedder, self._settings, overlay.chunk_count)
        return Retriever(overlay, self._embedder, self._settings, threshold).retrieve(question, scope, admit)

    def _snapshot(self) -> Snapshot | None:
        """None before anything was indexed."""
        try:
            snapshot = self._index.snapshot()
        except IndexMissing:
            return None
        if snapshot.stamp.embedder != self._embedder.stamp:
            raise IndexStale(
                f"the index is being made anew with {self._embedder.stamp.model}",
                hint="ask again when it is whole",
            )
        return snapshot

    def _passages(self, documents: Sequence[Document]) -> list[Chunk]:
        chunks: list[Chunk] = []
        room = _MOST_CHARACTERS
        for document in documents:
            if len(document.text) <= room:
                room -= len(document.text)
                chunks += self._waiting.chunks(
                    document, lambda each: chunk_document(each, self._chunking, self._embedder)
                )
        return chunks
