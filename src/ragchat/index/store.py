"""The index of one folder in one SQLite file."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, FailedDocument
from ragchat.embedding.embedder import Matrix, Vector
from ragchat.errors import IndexCorrupt
from ragchat.index import rows
from ragchat.index.lock import writer_lock
from ragchat.index.protocol import Coverage, IndexStamp, Source
from ragchat.index.schema import INDEX_FILE, explained, open_database, remove_database, transaction
from ragchat.index.snapshot import MemorySnapshot, unpack_text


def open_index(folder_data_dir: Path) -> SqliteIndex:
    """The index kept in this folder, made when there is none.

    Raises IndexCorrupt for a damaged or foreign file, IndexLocked, StorageFailed.
    """
    return SqliteIndex(folder_data_dir, open_database(folder_data_dir))


def replace_damaged_index(folder_data_dir: Path) -> SqliteIndex:
    """An empty index in place of whatever file is there: what `--rebuild` does when `open_index` cannot.

    Raises IndexLocked, StorageFailed.
    """
    with writer_lock(folder_data_dir):
        remove_database(folder_data_dir)
        return open_index(folder_data_dir)


class SqliteIndex:
    """Implements `Index`. Threads take turns at one connection; other processes read while one writes."""

    def __init__(self, data_dir: Path, connection: sqlite3.Connection) -> None:
        self._data_dir = data_dir
        self._path = data_dir / INDEX_FILE
        self._connection = connection
        self._turn = threading.RLock()
        self._snapshot: MemorySnapshot | None = None
        self._snapshot_generation = -1

    @property
    def stamp(self) -> IndexStamp | None:
        """The stamp it is being kept under; None before anything was indexed."""
        with self._reading() as connection:
            current = rows.read_stamp(connection)
        return None if current is None else current[1]

    def coverage(self) -> Coverage:
        """Documents indexed, failed, stale; loads nothing."""
        with self._reading() as connection:
            return rows.read_coverage(connection)

    def chunk_count(self) -> int:
        """How many chunks a snapshot would hold; loads nothing."""
        with self._reading() as connection:
            return rows.read_number(
                connection,
                "SELECT count(*) FROM chunks c JOIN documents d ON d.id = c.document_id "
                "WHERE d.stamp_id IS ?",
                rows.read_stamp_id(connection),
            )

    def writing(self) -> AbstractContextManager[None]:
        """Be the only writer among all processes while inside. Raises IndexLocked when there is another."""
        return writer_lock(self._data_dir)

    def begin(self, stamp: IndexStamp) -> None:
        """Keep it under this stamp from now on; documents of another become stale."""
        text = json.dumps(dataclasses.asdict(stamp), sort_keys=True)
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO stamps (stamp) VALUES (?)", (text,))
            connection.execute("UPDATE state SET stamp_id = (SELECT id FROM stamps WHERE stamp = ?)", (text,))

    def snapshot(self) -> MemorySnapshot:
        """The latest whole state. Cheap when nothing has changed since the last call.

        Raises IndexMissing before anything was indexed, IndexCorrupt for vectors that are not unit length.
        """
        with self._reading() as connection:
            generation = rows.read_number(connection, "SELECT generation FROM state")
            if self._snapshot is None or generation != self._snapshot_generation:
                known_tokens = self._snapshot.tokens_of_chunks if self._snapshot else {}
                self._snapshot = rows.read_snapshot(connection, known_tokens)
                self._snapshot_generation = generation
            return self._snapshot

    def sources(self) -> Mapping[str, Source]:
        """Every file the index knows, by name."""
        with self._reading() as connection:
            return rows.read_sources(connection)

    def failures(self) -> Sequence[FailedDocument]:
        """Files that could not be read, with their reasons, by name."""
        with self._reading() as connection:
            found = connection.execute(
                "SELECT name, reason, hint, digest, extractor FROM failures ORDER BY name"
            )
            return [FailedDocument(*row) for row in found]

    def vectors_of_texts(self, digests: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors of the index's own stamp for chunk texts seen before, by sha256 of the text."""
        with self._reading() as connection:
            return rows.read_vectors(connection, digests)

    def vectors_of_document(self, name: str) -> Mapping[str, Vector]:
        """The same for one document's chunks; nothing for a document that is unknown or stale."""
        with self._reading() as connection:
            return rows.read_document_vectors(connection, name)

    def replace(self, document: Document, source: Source, chunks: Sequence[Chunk], vectors: Matrix) -> None:
        """Put the document in place of its old version, in one transaction.

        Raises ValueError for a chunk that is no slice of the document, or vectors that do not fit the stamp.
        """
        with self._changing() as connection:
            rows.write_document(connection, document, source, chunks, vectors)

    def fail(self, failure: FailedDocument, source: Source) -> None:
        """Record that the file cannot be read; its old version goes."""
        with self._changing() as connection:
            rows.drop(connection, failure.name)
            connection.execute(
                "INSERT INTO failures (name, reason, hint, size, modified_ns, checked_ns, digest, extractor) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (failure.name, _storable(failure.reason), _storable(failure.hint), *rows.facts(source)),
            )

    def touch(self, source: Source) -> None:
        """The file's content is what it was: keep its new size, time and check; failed files too."""
        with self._transaction("IMMEDIATE") as connection:
            for table in ("documents", "failures"):
                connection.execute(
                    f"UPDATE {table} SET size = ?, modified_ns = ?, checked_ns = ? WHERE name = ?",
                    (source.size, source.modified_ns, source.checked_ns, source.name),
                )

    def rename(self, old: str, document: Document, source: Source, chunks: Sequence[Chunk]) -> None:
        """The same content under a new name: nothing is embedded again.

        Raises ValueError when a chunk's text was never embedded.
        """
        with self._changing() as connection:
            digests = [rows.text_digest(chunk.text) for chunk in chunks]
            known = rows.read_vectors(connection, digests)
            if missing := set(digests) - known.keys():
                raise ValueError(f"{len(missing)} chunks of {document.name!r} were never embedded")
            rows.drop(connection, old)
            vectors = [known[digest] for digest in digests]
            matrix = np.stack(vectors) if vectors else np.zeros((0, 0), np.float32)
            rows.write_document(connection, document, source, chunks, matrix)

    def remove(self, name: str) -> None:
        """Forget a file that is gone."""
        with self._changing() as connection:
            rows.drop(connection, name)

    def document_text(self, name: str) -> str | None:
        """The canonical text as it was when indexed; None for an unknown document."""
        with self._reading() as connection:
            row = connection.execute("SELECT text FROM documents WHERE name = ?", (name,)).fetchone()
        return None if row is None else unpack_text(row[0])

    def read_value(self, key: str) -> str | None:
        """A small value kept with the index (the calibrated threshold, say)."""
        with self._reading() as connection:
            row = connection.execute('SELECT value FROM "values" WHERE key = ?', (key,)).fetchone()
        return None if row is None else str(row[0])

    def write_value(self, key: str, value: str) -> None:
        """Keep a small value with the index."""
        with self._transaction("IMMEDIATE") as connection:
            connection.execute('INSERT OR REPLACE INTO "values" VALUES (?, ?)', (key, value))

    def check(self) -> None:
        """Read the whole file, as `--rebuild` must before it builds on it. Raises IndexCorrupt."""
        with self._reading() as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            first_line = str(found).splitlines()[0]
            raise IndexCorrupt(
                f"the index {self._path} is damaged: {first_line}", hint="ragchat index --rebuild"
            )

    def close(self) -> None:
        """Release the file."""
        with self._turn, explained(self._path):
            self._connection.close()

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._transaction("DEFERRED")

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction after which snapshots taken before are out of date."""
        with self._transaction("IMMEDIATE") as connection:
            yield connection
            connection.execute("UPDATE state SET generation = generation + 1")

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        with self._turn, explained(self._path), transaction(self._connection, kind):
            yield self._connection


def _storable(text: str) -> str:
    """A reason may quote what is no Unicode, the bytes of a path say; it is shown escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
