"""A snapshot in which some passages cannot be found: what a folder would be without them."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ragchat.embedding.embedder import Matrix, Vector
from ragchat.index.protocol import Hit, Scope, Snapshot


class HidingSnapshot:
    """As much of a `Snapshot` as a search needs; statistics are those of the whole folder."""

    def __init__(self, snapshot: Snapshot, hidden: AbstractSet[int]) -> None:
        self._snapshot = snapshot
        self._hidden = hidden
        self.stamp = snapshot.stamp
        self.chunk_count = snapshot.chunk_count
        self.document_frequency = snapshot.document_frequency
        self.chunks = snapshot.chunks
        self.vectors = snapshot.vectors
        self.token_vectors = snapshot.token_vectors

    def dense(self, question: Vector, limit: int, scope: Scope, *, exact: bool = False) -> list[Hit]:
        """As the snapshot's, without what is hidden."""
        wanted = limit + len(self._hidden)
        return self._shown(self._snapshot.dense(question, wanted, scope, exact=exact), limit)

    def dense_of_each(self, questions: Matrix, limit: int) -> list[list[Hit]]:
        """As the snapshot's, without what is hidden."""
        found = self._snapshot.dense_of_each(questions, limit + len(self._hidden))
        return [self._shown(hits, limit) for hits in found]

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        """As the snapshot's, without what is hidden."""
        return self._shown(self._snapshot.lexical(tokens, limit + len(self._hidden), scope), limit)

    def _shown(self, hits: Sequence[Hit], limit: int) -> list[Hit]:
        return [hit for hit in hits if hit.chunk_id not in self._hidden][:limit]
