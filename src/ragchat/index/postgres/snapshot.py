"""One consistent view of a shared library for one question.

A transaction of its own, REPEATABLE READ, lasts as long as the snapshot: the database shows it one state
however many documents are replaced meanwhile. pgvector's HNSW proposes where there are many chunks;
every distance that anything is judged by is computed from the fp32 vectors.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.embedding.embedder import Int8Matrix, Matrix, Vector
from ragchat.index.bm25 import DECIMALS
from ragchat.index.dense import exact_cosines
from ragchat.index.packing import unpack_text, unpack_tokens
from ragchat.index.postgres import lexical
from ragchat.index.postgres.connection import explained
from ragchat.index.postgres.dense import MOST_PROPOSED, matrix_of, propose
from ragchat.index.postgres.rows import read_sources
from ragchat.index.postgres.scope import condition_of, count, listed
from ragchat.index.protocol import Coverage, Hit, IndexStamp, Scope
from ragchat.index.source import Source

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

EXACT_BELOW = 20_000
"""Up to so many chunks every vector is compared (16 ms); above it HNSW proposes."""


class PostgresSnapshot:
    """Implements `Snapshot`. Threads take turns. Its transaction ends when nobody holds it any more.

    release: gives the connection back; called once.
    """

    def __init__(
        self,
        connection: Connection,
        release: Callable[[Connection], None],
        url: str,
        schema: str,
        stamp: IndexStamp,
        coverage: Coverage,
    ) -> None:
        self.stamp = stamp
        self.coverage = coverage
        self._connection = connection
        self._url = url
        self._schema = schema
        self._turn = threading.RLock()
        self._close = weakref.finalize(self, release, connection)
        self._texts: dict[int, str] = {}
        self._counts: dict[Scope, int] = {}
        self._sources: Mapping[str, Source] | None = None
        self.chunk_count, self._length = self._totals()

    def sources(self) -> Mapping[str, Source]:
        """Every file that this reader may see, by name."""
        with self._querying() as connection:
            if self._sources is None:
                self._sources = read_sources(connection, self._schema)
            return self._sources

    @property
    def approximate(self) -> bool:
        """Whether `dense` may miss a near chunk unless it is asked to be exact."""
        return self.chunk_count > EXACT_BELOW

    def close(self) -> None:
        """End the transaction now; nothing may be asked of it afterwards."""
        with self._turn:
            self._close()

    @property
    def usable(self) -> bool:
        """Whether its transaction lasts: it was not closed, and the server did not go away."""
        return self._close.alive and not self._connection.closed

    def dense(self, question: Vector, limit: int, scope: Scope, *, exact: bool = False) -> list[Hit]:
        """Nearest chunks by cosine distance, ascending; ties by document name, then place.

        exact: compare every vector, instead of taking what HNSW proposes.
        """
        self._check(question[np.newaxis])
        if limit <= 0:
            return []
        with self._querying() as connection:
            ids: list[int] = []
            there = self._count(connection, scope)
            if there > EXACT_BELOW and not exact and limit <= MOST_PROPOSED:
                where = condition_of(scope, self._schema, "chunk_id")
                ids, vectors = propose(connection, self._schema, question, limit, *where, index=True)
            if len(ids) < min(limit, there):
                where = listed(scope, self._schema, "chunk_id")
                ids, vectors = propose(connection, self._schema, question, limit, *where, index=False)
        if not ids:
            return []
        first = self._first(limit, ids, exact_cosines(vectors, question).tolist())
        return [Hit(hit.chunk_id, min(max(1.0 - hit.value, 0.0), 2.0)) for hit in first]

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        """Best chunks by BM25, descending; ties as in `dense`; never one with score 0."""
        if not self.chunk_count:
            return []
        condition, parameters = condition_of(scope, self._schema, "w.chunk_id")
        with self._querying() as connection:
            found = lexical.search(
                connection,
                self._schema,
                tokens,
                limit,
                chunks=self.chunk_count,
                length=self._length,
                scope_sql=f"WHERE {condition}" if condition else "",
                scope_parameters=parameters,
            )
        return self._first(
            limit, [hit.chunk_id for hit in found], [round(hit.value, DECIMALS) for hit in found]
        )

    def containing(self, token: str, scope: Scope, limit: int) -> list[int]:
        """Ids of the chunks that hold this token, by document name, then place."""
        condition, parameters = condition_of(scope, self._schema, "w.chunk_id")
        with self._querying() as connection:
            rows = connection.execute(
                f"SELECT w.chunk_id FROM {self._schema}.words w"
                f" JOIN {self._schema}.chunks c ON c.id = w.chunk_id"
                f" JOIN {self._schema}.documents d ON d.id = c.document_id"
                f' WHERE w.token = %(token)s COLLATE "C"{" AND " + condition if condition else ""}'
                " ORDER BY d.name, c.start, c.id LIMIT %(limit)s",
                {"token": token.replace("\0", ""), "limit": limit, **parameters},
            ).fetchall()
        return [int(row[0]) for row in rows]

    def document_frequency(self, token: str) -> int:
        """In how many chunks the token stands."""
        with self._querying() as connection:
            return lexical.document_frequency(connection, self._schema, token.replace("\0", ""))

    def chunks(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        """The chunks, in the order asked for. Raises KeyError for an id that is not in this snapshot."""
        rows = self._rows(
            'SELECT c.id, c.document_id, d.name, d.title, c.section, c.start, c."end", c.first_line,'
            " c.last_line, c.context_start, c.tokens, c.header_tokens, c.locator, c.text"
            f" FROM {self._schema}.chunks c JOIN {self._schema}.documents d ON d.id = c.document_id"
            " WHERE c.id = ANY (%s)",
            chunk_ids,
        )
        return [self._chunk(row) for row in rows]

    def neighbours(self, chunk_ids: Sequence[int]) -> list[tuple[Chunk | None, Chunk | None]]:
        """The chunks right before and after each in the same section of its document."""
        beside = f"FROM {self._schema}.chunks n WHERE n.document_id = c.document_id AND n.section = c.section"
        rows = self._rows(
            f"SELECT c.id, (SELECT n.id {beside} AND n.start < c.start ORDER BY n.start DESC LIMIT 1),"
            f" (SELECT n.id {beside} AND n.start > c.start ORDER BY n.start LIMIT 1)"
            f" FROM {self._schema}.chunks c WHERE c.id = ANY (%s)",
            chunk_ids,
        )
        ids = sorted({key for row in rows for key in row[1:] if key is not None})
        found = dict(zip(ids, self.chunks(ids), strict=True))
        return [(found.get(before), found.get(after)) for _, before, after in rows]

    def vectors(self, chunk_ids: Sequence[int]) -> Matrix:
        """Their unit vectors, shape (len(chunk_ids), dimensions). Raises KeyError as `chunks` does."""
        rows = self._rows(
            f"SELECT chunk_id, vector_send(vector) FROM {self._schema}.vectors WHERE chunk_id = ANY (%s)",
            chunk_ids,
        )
        return matrix_of([bytes(row[1]) for row in rows], self.stamp.embedder.dimensions)

    def token_vectors(self, chunk_ids: Sequence[int]) -> Sequence[Int8Matrix] | None:
        """Their tokens' vectors, each of shape (tokens, width); None when any of the chunks has none."""
        rows = self._rows(
            f"SELECT chunk_id, token_vectors FROM {self._schema}.vectors WHERE chunk_id = ANY (%s)",
            chunk_ids,
        )
        if any(row[1] is None for row in rows):
            return None
        return [unpack_tokens(bytes(row[1])) for row in rows]

    def dense_of_each(self, questions: Matrix, limit: int) -> list[list[Hit]]:
        """`dense` of each question (row), everywhere."""
        return [self.dense(question, limit, Scope()) for question in questions]

    def _count(self, connection: Connection, scope: Scope) -> int:
        """How many chunks lie there: few are compared one by one."""
        if scope == Scope():
            return self.chunk_count
        if scope not in self._counts:
            self._counts[scope] = count(connection, scope, self._schema)
        return self._counts[scope]

    def _first(self, limit: int, ids: Sequence[int], values: Sequence[float]) -> list[Hit]:
        """The chunks of the largest values; of equal ones, by document name, then place."""
        places = self._places(ids) if len(set(values)) < len(values) else {}
        order = sorted(range(len(ids)), key=lambda at: (-values[at], places.get(ids[at], ()), ids[at]))
        return [Hit(ids[at], values[at]) for at in order[:limit]]

    def _places(self, ids: Sequence[int]) -> dict[int, tuple[str, int]]:
        rows = self._rows(
            f"SELECT c.id, d.name, c.start FROM {self._schema}.chunks c"
            f" JOIN {self._schema}.documents d ON d.id = c.document_id WHERE c.id = ANY (%s)",
            ids,
        )
        return {int(row[0]): (str(row[1]), int(row[2])) for row in rows}

    def _totals(self) -> tuple[int, int]:
        with self._querying() as connection:
            row = connection.execute(
                "SELECT coalesce(sum(chunks), 0)::bigint, coalesce(sum(length), 0)::bigint "
                f"FROM {self._schema}.totals"
            ).fetchone()
        return (0, 0) if row is None else (int(row[0]), int(row[1]))

    def _rows(self, query: str, chunk_ids: Sequence[int]) -> list[tuple[Any, ...]]:
        with self._querying() as connection:
            found = {
                int(row[0]): row
                for row in connection.execute(query, (list(chunk_ids),), binary=True).fetchall()
            }
        missing = [chunk_id for chunk_id in chunk_ids if chunk_id not in found]
        if missing:
            raise KeyError(f"no chunk {missing[0]} in this snapshot")
        return [found[chunk_id] for chunk_id in chunk_ids]

    def _chunk(self, row: tuple[Any, ...]) -> Chunk:
        _, document_id, name, title, section, start, end, *numbers, locator, text = row
        first_line, last_line, context_start, tokens, header_tokens = numbers
        whole = self._document_text(document_id)
        return Chunk(
            document=name,
            title=json.loads(title),
            section=tuple(json.loads(section)),
            start=start,
            end=end,
            first_line=first_line,
            last_line=last_line,
            content=whole[start:end],
            text=bytes(text).decode(),
            context_start=context_start,
            tokens=tokens,
            header_tokens=header_tokens,
            locator=locator,
            lead=whole[context_start:start],
        )

    def _document_text(self, document_id: int) -> str:
        """Kept as long as the snapshot: the documents of one question's candidates."""
        if document_id in self._texts:
            return self._texts[document_id]
        with self._querying() as connection:
            row = connection.execute(
                f"SELECT text FROM {self._schema}.documents WHERE id = %s", (document_id,), binary=True
            ).fetchone()
        if row is None:
            raise KeyError(f"no document {document_id} in this snapshot")
        return self._texts.setdefault(document_id, unpack_text(bytes(row[0])))

    def _check(self, questions: Matrix) -> None:
        if questions.shape[1] != self.stamp.embedder.dimensions:
            raise ValueError(
                f"a question of {questions.shape[1]} dimensions cannot be compared with this index "
                f"({self.stamp.embedder.dimensions})"
            )

    @contextmanager
    def _querying(self) -> Iterator[Connection]:
        with self._turn, explained(self._url):
            yield self._connection
