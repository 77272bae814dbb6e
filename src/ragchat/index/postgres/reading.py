"""What can be asked of a shared library: by those who read it, and by those who write it before they write.

A question reads in one snapshot, on a connection of its own.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragchat.documents.document import FailedDocument, Locator
from ragchat.embedding.embedder import Int8Matrix, Vector
from ragchat.errors import IndexMissing
from ragchat.index.postgres import library, rows
from ragchat.index.postgres.audiences import Audiences
from ragchat.index.postgres.connection import explained, usable
from ragchat.index.postgres.schema import schema_of
from ragchat.index.postgres.snapshot import PostgresSnapshot
from ragchat.index.protocol import Coverage, Heading, IndexStamp
from ragchat.index.source import Source

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection


class LibraryReading:
    """Threads take turns at one connection; every snapshot has one of its own."""

    def __init__(
        self, url: str, connection: Connection, number: int, name: str, audiences: Audiences
    ) -> None:
        self._url = url
        self._connection = connection
        self._library = number
        self._name = name
        self._audiences = audiences
        self._building: int | None = None
        self._turn = threading.RLock()
        self._idle: list[Connection] = []
        self._snapshot: weakref.ref[PostgresSnapshot] | None = None
        self._snapshot_state: tuple[int, int] | None = None

    @property
    def stamp(self) -> IndexStamp | None:
        """The stamp of what can be searched; None before anything was indexed."""
        with self._transaction() as connection:
            active, _ = library.read_state(connection, self._library)
            return None if active is None else library.read_stamp(connection, active)

    @property
    def building(self) -> IndexStamp | None:
        """The stamp of a rebuild that is not whole yet, by whomever it was begun."""
        with self._transaction() as connection:
            _, building = library.read_state(connection, self._library)
            return None if building is None else library.read_stamp(connection, building)

    def coverage(self) -> Coverage:
        """Documents indexed, failed, stale; loads nothing."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            return Coverage(0, 0, 0) if schema is None else rows.read_coverage(connection, schema)

    def chunk_count(self) -> int:
        """How many chunks a snapshot would hold; loads nothing."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            if schema is None:
                return 0
            return library.number(connection, f"SELECT coalesce(sum(chunks), 0) FROM {schema}.totals")

    def generation(self) -> int:
        """Another number after every change of what a snapshot would hold; loads nothing."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            if schema is None:
                return 0
            return library.number(connection, f"SELECT coalesce(sum(changes), 0) FROM {schema}.totals")

    def snapshot(self) -> PostgresSnapshot:
        """The latest whole state. Cheap when nothing has changed since the last call.

        Raises IndexMissing before anything was indexed, StorageFailed.
        """
        with self._turn, explained(self._url):
            connection = usable(self._idle.pop() if self._idle else None, self._url)
            try:
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                stamp_id = self._indexed(connection)
                schema = schema_of(stamp_id)
                changes = library.number(connection, f"SELECT coalesce(sum(changes), 0) FROM {schema}.totals")
                last = self._snapshot() if self._snapshot is not None else None
                if last is not None and last.usable and self._snapshot_state == (stamp_id, changes):
                    self._release(connection)
                    return last
                stamp = library.read_stamp(connection, stamp_id)
                coverage = rows.read_coverage(connection, schema)
                snapshot = PostgresSnapshot(connection, self._release, self._url, schema, stamp, coverage)
            except BaseException:
                connection.close()
                raise
            self._snapshot, self._snapshot_state = weakref.ref(snapshot), (stamp_id, changes)
            return snapshot

    def sources(self) -> Mapping[str, Source]:
        """Every file the library knows, by name."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            if schema is None:
                return {}
            if not self._audiences:
                return rows.read_sources(connection, schema)
            roles = rows.read_roles(connection, schema)
            # A document that is now for others is put in place again, by whoever indexes next.
            return {
                name: source._replace(state="stale")
                if source.state == "indexed" and roles.get(name, "") != self._audiences.role_of(name)
                else source
                for name, source in rows.read_sources(connection, schema).items()
            }

    def sections(self) -> Sequence[Heading]:
        """Every section that passages stand in, in the order of the documents."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            return [] if schema is None else rows.read_sections(connection, schema)

    def failures(self) -> Sequence[FailedDocument]:
        """Files that could not be read, with their reasons, by name."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            return [] if schema is None else rows.read_failures(connection, schema)

    def vectors_of_texts(self, digests: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors of the library's own stamp for chunk texts seen before, by sha256 of the text."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            if schema is None:
                return {}
            places = rows.read_chunks_of_texts(connection, schema, digests)
            return rows.read_vectors(connection, schema, places)

    def vectors_of_document(self, name: str) -> Mapping[str, Vector]:
        """The same for one document's chunks; nothing for a document that is unknown."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            if schema is None:
                return {}
            places = rows.read_chunks_of_document(connection, schema, name)
            return rows.read_vectors(connection, schema, places)

    def token_vectors_of_texts(self, digests: Sequence[str]) -> Mapping[str, Int8Matrix]:
        """Token vectors as `vectors_of_texts`, of the texts that have some."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            if schema is None:
                return {}
            places = rows.read_chunks_of_texts(connection, schema, digests)
            return rows.read_token_vectors(connection, schema, places)

    def token_vectors_of_document(self, name: str) -> Mapping[str, Int8Matrix]:
        """Token vectors as `vectors_of_document`, of the chunks that have some."""
        with self._transaction() as connection:
            schema = self._kept(connection)
            if schema is None:
                return {}
            places = rows.read_chunks_of_document(connection, schema, name)
            return rows.read_token_vectors(connection, schema, places)

    def document_text(self, name: str) -> str | None:
        """The canonical text as it was when indexed; None for an unknown document."""
        with self._transaction() as connection:
            active, _ = library.read_state(connection, self._library)
            return None if active is None else rows.document_text(connection, schema_of(active), name)

    def document_locators(self, name: str) -> tuple[Locator, ...]:
        """Pages, slides, rows and the like of that text, in order; none for an unknown document."""
        with self._transaction() as connection:
            active, _ = library.read_state(connection, self._library)
            return () if active is None else rows.document_locators(connection, schema_of(active), name)

    def passages_of(self, name: str) -> int:
        """How many chunks that document has; 0 for an unknown one."""
        with self._transaction() as connection:
            active, _ = library.read_state(connection, self._library)
            return 0 if active is None else rows.count_chunks_of(connection, schema_of(active), name)

    def gaps(self) -> Mapping[str, tuple[str, ...]]:
        """Documents of which something could not be read, by name, with what and why."""
        with self._transaction() as connection:
            active, _ = library.read_state(connection, self._library)
            return {} if active is None else rows.read_gaps(connection, schema_of(active))

    def read_value(self, key: str) -> str | None:
        """A small value kept with the library, for readers who may see the same documents."""
        with self._transaction() as connection:
            return library.read_value(connection, self._library, key)

    def describe(self) -> str:
        """Versions of the server and of pgvector, the size of the database, who may read."""
        with self._transaction() as connection:
            return library.describe(connection, self._library)

    def close(self) -> None:
        """Release the connections."""
        with self._turn:
            last = self._snapshot() if self._snapshot is not None else None
            if last is not None:
                last.close()
            for connection in (self._connection, *self._idle):
                connection.close()
            self._idle.clear()

    def _release(self, connection: Connection) -> None:
        """Take back a snapshot's connection; called by whatever thread lets go of it last."""
        if self._connection.closed or connection.closed:
            connection.close()
            return
        connection.execute("ROLLBACK")
        self._idle.append(connection)

    def _indexed(self, connection: Connection) -> int:
        active, _ = library.read_state(connection, self._library)
        if active is None:
            raise IndexMissing(f"the library {self._name} is empty", hint="ragchat index")
        return active

    def _kept(self, connection: Connection) -> str | None:
        """The tables of the stamp that is written under; None before anything was indexed."""
        stamp_id = self._building or library.read_state(connection, self._library)[0]
        return None if stamp_id is None else schema_of(stamp_id)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with self._turn, explained(self._url):
            self._connection = usable(self._connection, self._url)
            with self._connection.transaction():
                yield self._connection
