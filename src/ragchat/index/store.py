"""The index of one folder: a SQLite file that is the truth, and the segment files that it names."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, FailedDocument
from ragchat.embedding.embedder import Matrix, TokenVectors
from ragchat.errors import IndexCorrupt, IndexMissing, StorageFailed
from ragchat.index import chunk_rows, rows
from ragchat.index.database import connect, open_database
from ragchat.index.files import put_aside
from ragchat.index.lock import writer_lock
from ragchat.index.packing import stacked, stacked_tokens, text_digest
from ragchat.index.protocol import Claim, IndexStamp
from ragchat.index.queries import read_number
from ragchat.index.shelf import (
    SEALED_AT,
    SEALED_AT_LAST,
    neighbours_of_a_size,
    what_a_run_left,
)
from ragchat.index.snapshot import SqliteSnapshot
from ragchat.index.source import Source
from ragchat.index.space import give_back
from ragchat.index.sqlite_errors import explained
from ragchat.index.stored import StoredIndex
from ragchat.index.view import View

_FORGOTTEN_AT_ONCE = 200
"""Documents of an old stamp deleted in one transaction, so that nobody waits long for the next."""
_OPENINGS = 5
"""A file may be merged away between reading its name and opening it; then the next manifest names another."""


def open_index(folder_data_dir: Path) -> SqliteIndex:
    """The index kept in this folder, made when there is none.

    Raises IndexCorrupt for a damaged or foreign file, IndexLocked, StorageFailed.
    """
    return SqliteIndex(folder_data_dir, open_database(folder_data_dir))


def replace_damaged_index(folder_data_dir: Path) -> SqliteIndex:
    """An empty index; whatever files are there are put aside: what `--rebuild` does when `open_index` cannot.

    Raises IndexLocked, StorageFailed.
    """
    with writer_lock(folder_data_dir):
        put_aside(folder_data_dir)
        return open_index(folder_data_dir)


class SqliteIndex(StoredIndex):
    """Implements `Index`. Threads take turns at one connection; other processes read while one writes."""

    def __init__(self, data_dir: Path, connection: sqlite3.Connection) -> None:
        super().__init__(data_dir, connection)
        self._view: View | None = None
        self._snapshot: weakref.ref[SqliteSnapshot] | None = None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the only writer among all processes while inside. Raises IndexLocked when there is another."""
        with writer_lock(self._data_dir):
            try:
                yield
            finally:
                self._building_id = None

    def begin(self, stamp: IndexStamp) -> None:
        """Write under this stamp from now on, beside what can be searched if that has another."""
        text = json.dumps(dataclasses.asdict(stamp), sort_keys=True)
        with self._changing() as connection:
            connection.execute("INSERT OR IGNORE INTO stamps (stamp) VALUES (?)", (text,))
            wanted = read_number(connection, "SELECT id FROM stamps WHERE stamp = ?", text)
            active, _, _ = rows.read_state(connection)
            if active != wanted and rows.has_documents(connection, active):
                connection.execute("UPDATE state SET building_id = ?", (wanted,))
                self._building_id = wanted
            else:
                connection.execute("UPDATE state SET stamp_id = ?, building_id = NULL", (wanted,))
                self._building_id = None

    def finish(self) -> None:
        """A whole run is done: search what it built, forget what that replaces, put the storage in order."""
        if self._building_id is not None:
            with self._transaction("DURABLE") as connection:
                connection.execute(
                    "UPDATE state SET stamp_id = ?, building_id = NULL, generation = generation + 1",
                    (self._building_id,),
                )
            self._building_id = None
        with self._reading() as connection:
            stamp_id, building_id, _ = rows.read_state(connection)
        if stamp_id is None:
            return
        if building_id is None:
            self._forget_others(stamp_id)
        with self._explained_files():
            self._shelf.seal(stamp_id, SEALED_AT_LAST)
            with suppress(
                StorageFailed
            ):  # all is searched as it is; where a disk is full, a later run merges
                while self._shelf.merge(stamp_id, what_a_run_left):
                    pass
            self._shelf.collect_garbage()
        with self._turn, explained(self._path):
            give_back(self._connection)

    def snapshot(self) -> SqliteSnapshot:
        """The latest whole state. Cheap when nothing has changed since the last call.

        Raises IndexMissing before anything was indexed, IndexCorrupt for what is damaged or missing.
        """
        with self._turn, self._explained_files():
            with self._reading() as connection:
                _, _, generation = rows.read_state(connection)
            kept = self._snapshot() if self._snapshot else None
            if kept is None or kept.generation != generation:
                kept = self._opened_snapshot()
                self._snapshot = weakref.ref(kept)
            return kept

    def replace(
        self,
        document: Document,
        source: Source,
        chunks: Sequence[Chunk],
        vectors: Matrix,
        tokens: TokenVectors | None = None,
        *,
        expected_revision: int | None = None,
    ) -> None:
        """Put the document in place of its old version, in one transaction.

        Raises RevisionConflict, StorageFailed; ValueError for a chunk that is no slice of the document, or
        vectors that do not fit.
        """
        with self._changing() as connection:
            stamp_id = self._begun(connection)
            if expected_revision is not None:
                rows.require_revision(connection, stamp_id, document.name, expected_revision)
            chunk_rows.write_document(connection, stamp_id, document, source, chunks, vectors, tokens)
        self._seal(stamp_id)

    def fail(self, failure: FailedDocument, source: Source) -> None:
        """Record that the file cannot be read; its old version goes."""
        with self._changing() as connection:
            rows.write_failure(connection, self._begun(connection), failure, source)

    def claim(self, name: str, revision: int) -> Claim:  # noqa: ARG002
        """Whoever is `writing` has every document."""
        return "ours"

    def release(self, name: str) -> None:
        """Nothing was taken."""

    def touch(self, source: Source) -> None:
        """The file's content is what it was: keep its new size, time and check; failed files too."""
        with self._transaction("IMMEDIATE") as connection:
            rows.touch(connection, self._kept(connection), source)

    def rename(self, old: str, document: Document, source: Source, chunks: Sequence[Chunk]) -> None:
        """The same content under a new name: nothing is embedded again.

        Raises ValueError when a chunk's text was never embedded.
        """
        with self._changing() as connection:
            stamp_id = self._begun(connection)
            digests = [text_digest(chunk.text) for chunk in chunks]
            places = chunk_rows.read_chunks_of_texts(connection, stamp_id, digests)
            known = self._vectors(connection, stamp_id, places)
            tokens = self._token_vectors(connection, stamp_id, places)
            if missing := set(digests) - known.keys():
                raise ValueError(f"{len(missing)} chunks of {document.name!r} were never embedded")
            rows.drop(connection, stamp_id, old)
            chunk_rows.write_document(
                connection,
                stamp_id,
                document,
                source,
                chunks,
                stacked([known[digest] for digest in digests]),
                stacked_tokens([tokens.get(digest) for digest in digests]),
            )
        self._seal(stamp_id)

    def remove(self, name: str) -> None:
        """Forget a file that is gone."""
        with self._changing() as connection:
            if (stamp_id := self._kept(connection)) is not None:
                rows.drop(connection, stamp_id, name)

    def write_value(self, key: str, value: str) -> None:
        """Keep a small value with the index."""
        with self._transaction("IMMEDIATE") as connection:
            connection.execute('INSERT OR REPLACE INTO "values" VALUES (?, ?)', (key, value))

    def check(self) -> None:
        """Read all files, as `--rebuild` must before it builds on them. Raises IndexCorrupt."""
        with self._reading() as connection:
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            first_line = str(found).splitlines()[0]
            raise IndexCorrupt(
                f"the index {self._path} is damaged: {first_line}", hint="ragchat index --rebuild"
            )
        self._shelf.verify()

    def close(self) -> None:
        """Release the file. Snapshots that are still held go on answering."""
        with self._turn, explained(self._path):
            self._connection.close()

    def _opened_snapshot(self) -> SqliteSnapshot:
        for attempt in range(_OPENINGS):
            connection = connect(self._path)
            try:
                return self._snapshot_on(connection)
            except FileNotFoundError:
                connection.close()
                if attempt + 1 == _OPENINGS:
                    raise
            except BaseException:
                connection.close()
                raise
        raise AssertionError("unreachable")

    def _snapshot_on(self, connection: sqlite3.Connection) -> SqliteSnapshot:
        with explained(self._path):
            connection.execute("BEGIN DEFERRED")
            stamp_id, _, generation = rows.read_state(connection)
            if stamp_id is None:
                raise IndexMissing("this folder has no index yet", hint="ragchat index")
            if self._view is None or self._view.generation != generation:
                self._view = self._shelf.view(connection, stamp_id, generation)
            return SqliteSnapshot(self._view, connection, self._path)

    def _begun(self, connection: sqlite3.Connection) -> int:
        stamp_id = self._kept(connection)
        if stamp_id is None:
            raise ValueError("begin(stamp) comes before the first document")
        return stamp_id

    def _seal(self, stamp_id: int) -> None:
        with self._explained_files():
            if self._shelf.seal(stamp_id, SEALED_AT):
                while self._shelf.merge(stamp_id, neighbours_of_a_size):
                    pass

    def _forget_others(self, stamp_id: int) -> None:
        """What was made under other stamps, a little at a time; the segments' files are garbage then."""
        more = True
        while more:
            with self._transaction("IMMEDIATE") as connection:
                more = rows.forget_others(connection, stamp_id, _FORGOTTEN_AT_ONCE)

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction after which snapshots taken before are out of date."""
        with self._transaction("IMMEDIATE") as connection:
            yield connection
            connection.execute("UPDATE state SET generation = generation + 1")
