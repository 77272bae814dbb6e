"""One consistent view of the index for one question: a view to search, a read transaction to fetch from.

The transaction is kept on a connection of its own, so that what other threads and processes replace meanwhile
stays readable here. It is let go with the snapshot.
"""

from __future__ import annotations

import sqlite3
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.embedding.embedder import Int8Matrix, Matrix, Vector
from ragchat.index import chunk_rows, rows
from ragchat.index.protocol import Coverage, Hit, IndexStamp, Scope
from ragchat.index.ranking import Ids
from ragchat.index.source import Source
from ragchat.index.sqlite_errors import explained
from ragchat.index.view import View

_EVERYWHERE = Scope()


class SqliteSnapshot:
    """Implements `Snapshot`. Safe to use from several threads. connection: its own, inside a transaction."""

    def __init__(self, view: View, connection: sqlite3.Connection, path: Path) -> None:
        self._view = view
        self._connection = connection
        self._path = path
        self._sources: Mapping[str, Source] | None = None
        self._turn = threading.Lock()
        self.close = weakref.finalize(self, _release, connection)

    @property
    def generation(self) -> int:
        """Of the state it shows."""
        return self._view.generation

    @property
    def stamp(self) -> IndexStamp:
        """What made every vector in it."""
        return self._view.stamp

    @property
    def coverage(self) -> Coverage:
        """Documents searched, failed, stale."""
        return self._view.coverage

    def sources(self) -> Mapping[str, Source]:
        """Every file that it knows, by name."""
        with self._turn, explained(self._path):
            if self._sources is None:
                self._sources = rows.read_sources(self._connection, self._view.stamp_id)
            return self._sources

    @property
    def chunk_count(self) -> int:
        """How many chunks can be found."""
        return self._view.chunk_count

    @property
    def approximate(self) -> bool:
        """Never: what is proposed is certified to be the nearest."""
        return False

    def dense(self, question: Vector, limit: int, scope: Scope, *, exact: bool = False) -> list[Hit]:  # noqa: ARG002
        """Nearest chunks by exact cosine distance, ascending; ties by name and place."""
        self._check(question[np.newaxis])
        return self._view.dense(question, limit, self._documents(scope), self._order_of)

    def dense_of_each(self, questions: Matrix, limit: int) -> list[list[Hit]]:
        """`dense` of each question (row), everywhere, for little more than one matrix product."""
        self._check(questions)
        return self._view.dense_of_each(questions, limit, self._order_of)

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        """Best chunks by BM25, descending; ties by name and place; never one with score 0."""
        return self._view.lexical(tokens, limit, self._documents(scope), self._order_of)

    def containing(self, token: str, scope: Scope, limit: int) -> list[int]:
        """Ids of the chunks that hold this token, by name and place."""
        return self._view.containing(token, limit, self._documents(scope), self._order_of)

    def document_frequency(self, token: str) -> int:
        """In how many chunks the token stands."""
        return self._view.words.frequency(token)

    def chunks(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        """The chunks, in the order asked for. Raises KeyError for an id that is not in this snapshot."""
        self._view.places(chunk_ids)
        with self._turn, explained(self._path):
            return chunk_rows.read_chunks(self._connection, chunk_ids)

    def neighbours(self, chunk_ids: Sequence[int]) -> list[tuple[Chunk | None, Chunk | None]]:
        """The chunks right before and after each in the same section of its document."""
        with self._turn, explained(self._path):
            return chunk_rows.read_neighbours(self._connection, chunk_ids)

    def vectors(self, chunk_ids: Sequence[int]) -> Matrix:
        """Their unit vectors, shape (len(chunk_ids), dimensions). Raises KeyError as `chunks` does."""
        return self._view.vectors(chunk_ids)

    def token_vectors(self, chunk_ids: Sequence[int]) -> Sequence[Int8Matrix] | None:
        """Their tokens' vectors, each (tokens, dimensions); None when any of them has none."""
        found: list[Int8Matrix] = []
        recent: dict[int, Int8Matrix] | None = None
        for chunk_id, (segment, row) in zip(chunk_ids, self._view.places(chunk_ids), strict=True):
            if segment.tokens is not None:
                found.append(segment.tokens.of(row))
                continue
            if recent is None:
                with self._turn, explained(self._path):
                    recent = chunk_rows.read_recent_tokens(self._connection, chunk_ids)
            if chunk_id not in recent:
                return None
            found.append(recent[chunk_id])
        return found

    def _check(self, questions: Matrix) -> None:
        if questions.shape[1] != self.stamp.embedder.dimensions:
            raise ValueError(
                f"a question of {questions.shape[1]} dimensions cannot be compared with this index "
                f"({self.stamp.embedder.dimensions})"
            )

    def _order_of(self, documents: Ids) -> Ids:
        """Their places in the order of their names. Names are read where rows tie, not for every question."""
        wanted, place = np.unique(documents, return_inverse=True)
        with self._turn, explained(self._path):
            names = rows.read_names(self._connection, wanted.tolist())
        ranks = {document: rank for rank, document in enumerate(sorted(names, key=names.__getitem__))}
        return np.array([ranks[document] for document in wanted.tolist()], dtype=np.int64)[place]

    def _documents(self, scope: Scope) -> Ids | None:
        """Ids of the documents in the scope, None for all."""
        if scope == _EVERYWHERE:
            return None
        with self._turn, explained(self._path):
            return rows.read_documents_in(self._connection, self._view.stamp_id, scope)


def _release(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):
        connection.close()
