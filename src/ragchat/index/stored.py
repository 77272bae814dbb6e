"""What an index tells of its contents without a snapshot: facts, texts, vectors that serve again."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ragchat.documents.document import FailedDocument, Locator
from ragchat.embedding.embedder import Int8Matrix, Vector
from ragchat.errors import IndexCorrupt
from ragchat.index import chunk_rows, rows
from ragchat.index.database import transaction
from ragchat.index.files import INDEX_FILE
from ragchat.index.protocol import Coverage, Heading, IndexStamp
from ragchat.index.shelf import Shelf
from ragchat.index.source import Source
from ragchat.index.sqlite_errors import explained


class StoredIndex:
    """The reading half of `SqliteIndex`. Threads take turns at one connection."""

    def __init__(self, data_dir: Path, connection: sqlite3.Connection) -> None:
        self._data_dir = data_dir
        self._path = data_dir / INDEX_FILE
        self._connection = connection
        self._turn = threading.RLock()
        self._shelf = Shelf(data_dir, self._transaction)
        self._building_id: int | None = None

    @property
    def stamp(self) -> IndexStamp | None:
        """The stamp of what can be searched; None before anything was indexed."""
        with self._reading() as connection:
            stamp_id, _, _ = rows.read_state(connection)
            return None if stamp_id is None else rows.read_stamp(connection, stamp_id)

    @property
    def building(self) -> IndexStamp | None:
        """The stamp of a rebuild that is not whole yet, by whomever it was begun."""
        with self._reading() as connection:
            _, building_id, _ = rows.read_state(connection)
            return None if building_id is None else rows.read_stamp(connection, building_id)

    def coverage(self) -> Coverage:
        """Documents indexed, failed, stale; loads nothing."""
        with self._reading() as connection:
            return rows.read_coverage(connection, self._kept(connection))

    def chunk_count(self) -> int:
        """How many chunks a snapshot would hold; loads nothing."""
        with self._reading() as connection:
            return chunk_rows.count_chunks(connection, self._kept(connection))

    def generation(self) -> int:
        """Another number after every change of what a snapshot would hold; loads nothing."""
        with self._reading() as connection:
            return rows.read_state(connection)[2]

    def sources(self) -> Mapping[str, Source]:
        """Every file the index knows, by name."""
        with self._reading() as connection:
            return rows.read_sources(connection, self._kept(connection))

    def sections(self) -> Sequence[Heading]:
        """Every section that passages stand in, in the order of the documents."""
        with self._reading() as connection:
            return rows.read_sections(connection, self._kept(connection))

    def failures(self) -> Sequence[FailedDocument]:
        """Files that could not be read, with their reasons, by name."""
        with self._reading() as connection:
            return rows.read_failures(connection, self._kept(connection))

    def vectors_of_texts(self, digests: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors of the index's own stamp for chunk texts seen before, by sha256 of the text."""
        with self._reading() as connection:
            stamp_id = self._kept(connection)
            return self._vectors(
                connection, stamp_id, chunk_rows.read_chunks_of_texts(connection, stamp_id, digests)
            )

    def vectors_of_document(self, name: str) -> Mapping[str, Vector]:
        """The same for one document's chunks; nothing for a document that is unknown."""
        with self._reading() as connection:
            stamp_id = self._kept(connection)
            return self._vectors(
                connection, stamp_id, chunk_rows.read_chunks_of_document(connection, stamp_id, name)
            )

    def token_vectors_of_texts(self, digests: Sequence[str]) -> Mapping[str, Int8Matrix]:
        """Token vectors as `vectors_of_texts`, of the texts that have some."""
        with self._reading() as connection:
            stamp_id = self._kept(connection)
            return self._token_vectors(
                connection, stamp_id, chunk_rows.read_chunks_of_texts(connection, stamp_id, digests)
            )

    def token_vectors_of_document(self, name: str) -> Mapping[str, Int8Matrix]:
        """Token vectors as `vectors_of_document`, of the chunks that have some."""
        with self._reading() as connection:
            stamp_id = self._kept(connection)
            return self._token_vectors(
                connection, stamp_id, chunk_rows.read_chunks_of_document(connection, stamp_id, name)
            )

    def document_text(self, name: str) -> str | None:
        """The canonical text as it was when indexed; None for an unknown document."""
        with self._reading() as connection:
            stamp_id, _, _ = rows.read_state(connection)
            return rows.document_text(connection, stamp_id, name)

    def document_locators(self, name: str) -> tuple[Locator, ...]:
        """Pages, slides, rows and the like of that text, in order; none for an unknown document."""
        with self._reading() as connection:
            stamp_id, _, _ = rows.read_state(connection)
            return rows.document_locators(connection, stamp_id, name)

    def passages_of(self, name: str) -> int:
        """How many chunks that document has; 0 for an unknown one."""
        with self._reading() as connection:
            stamp_id, _, _ = rows.read_state(connection)
            return chunk_rows.count_chunks_of(connection, stamp_id, name)

    def gaps(self) -> Mapping[str, tuple[str, ...]]:
        """Documents of which something could not be read, by name, with what and why."""
        with self._reading() as connection:
            stamp_id, _, _ = rows.read_state(connection)
            return rows.read_gaps(connection, stamp_id)

    def read_value(self, key: str) -> str | None:
        """A small value kept with the index (the calibrated threshold, say)."""
        with self._reading() as connection:
            row = connection.execute('SELECT value FROM "values" WHERE key = ?', (key,)).fetchone()
        return None if row is None else str(row[0])

    def _kept(self, connection: sqlite3.Connection) -> int | None:
        """The id of the stamp that is written under; None before anything was indexed."""
        return self._building_id if self._building_id is not None else rows.read_state(connection)[0]

    def _vectors(
        self, connection: sqlite3.Connection, stamp_id: int | None, chunks: Mapping[str, int]
    ) -> dict[str, Vector]:
        if stamp_id is None or not chunks:
            return {}
        with self._explained_files():
            found = self._shelf.vectors(connection, stamp_id, list(chunks.values()))
        return {digest: found[chunk_id] for digest, chunk_id in chunks.items() if chunk_id in found}

    def _token_vectors(
        self, connection: sqlite3.Connection, stamp_id: int | None, chunks: Mapping[str, int]
    ) -> dict[str, Int8Matrix]:
        if stamp_id is None or not chunks:
            return {}
        with self._explained_files():
            found = self._shelf.token_vectors(connection, stamp_id, list(chunks.values()))
        return {digest: found[chunk_id] for digest, chunk_id in chunks.items() if chunk_id in found}

    @contextmanager
    def _explained_files(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise IndexCorrupt(
                f"the index file {error.filename} is missing", hint="ragchat index --rebuild"
            ) from error

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("DEFERRED")

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        with self._turn, explained(self._path), transaction(self._connection, kind):
            yield self._connection
