"""A shared library: the index of a folder of notes in PostgreSQL.

Several indexers and many readers at once: a document is replaced in one transaction, a question reads in one
snapshot. An indexer that dies leaves whole documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, FailedDocument
from ragchat.embedding.embedder import Matrix, TokenVectors
from ragchat.index.packing import check, stacked, stacked_tokens, text_digest
from ragchat.index.postgres import library, replacing, rows
from ragchat.index.postgres.audiences import Audiences
from ragchat.index.postgres.connection import connect, explained
from ragchat.index.postgres.reading import LibraryReading
from ragchat.index.postgres.schema import prepare, schema_of
from ragchat.index.protocol import Claim, IndexStamp
from ragchat.index.source import Source

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection


def open_library(url: str, name: str, audiences: Sequence[str] = ()) -> PostgresIndex:
    """The library of this name, made when there is none.

    audiences: "prefix=role", who may see the documents below a prefix; see `Audiences`.
    Raises StorageFailed, SetupError, UsageError.
    """
    rules = Audiences(audiences)
    connection = connect(url)
    try:
        with explained(url):
            prepare(connection)
            return PostgresIndex(url, connection, library.library_id(connection, name), name, rules)
    except BaseException:
        connection.close()
        raise


class PostgresIndex(LibraryReading):
    """Implements `Index`."""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Several may write: each document is replaced in a transaction of its own."""
        try:
            yield
        finally:
            self._building = None

    def begin(self, stamp: IndexStamp) -> None:
        """Write under this stamp from now on, beside what can be searched if that has another."""
        with self._transaction() as connection:
            wanted = library.begin(connection, self._library, stamp)
            active, _ = library.read_state(connection, self._library)
            self._building = wanted if wanted != active else None

    def finish(self) -> None:
        """A whole run is done: search what it built, forget what that replaces."""
        if self._building is not None:
            with self._transaction() as connection:
                library.switch(connection, self._library, self._building)
            self._building = None
        with self._transaction() as connection:
            library.collect_garbage(connection, self._library)

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
        with self._transaction() as connection:
            schema, dimensions = self._begun(connection)
            check(document, source, chunks, vectors, tokens, dimensions)
            self._lock(connection, document.name)
            if expected_revision is not None:
                replacing.require_revision(connection, schema, document.name, expected_revision)
            audience = self._audience_id(connection, document.name)
            replacing.write_document(connection, schema, document, source, chunks, vectors, tokens, audience)

    def fail(self, failure: FailedDocument, source: Source) -> None:
        """Record that the file cannot be read; its old version goes."""
        with self._transaction() as connection:
            schema, _ = self._begun(connection)
            self._lock(connection, failure.name)
            audience = self._audience_id(connection, failure.name)
            replacing.write_failure(connection, schema, audience, failure, source)

    def claim(self, name: str, revision: int) -> Claim:
        """Take a document for this indexer, among all that work on the library.

        The lock belongs to the connection: it goes when the indexer dies.
        """
        with self._transaction() as connection:
            schema, _ = self._begun(connection)
            taken = connection.execute(
                "SELECT pg_try_advisory_lock(%s, hashtext(%s))", (self._library, name)
            ).fetchone()
            if taken is None or not taken[0]:
                return "theirs"
            if rows.revision(connection, schema, name) != revision:
                self._unlock(connection, name)
                return "done"
            return "ours"

    def release(self, name: str) -> None:
        """Let others have the document again."""
        with self._transaction() as connection:
            self._unlock(connection, name)

    def touch(self, source: Source) -> None:
        """The file's content is what it was: keep its new size, time and check; failed files too."""
        with self._transaction() as connection:
            replacing.touch(connection, self._begun(connection)[0], source)

    def rename(self, old: str, document: Document, source: Source, chunks: Sequence[Chunk]) -> None:
        """The same content under a new name: nothing is embedded again.

        Raises ValueError when a chunk's text was never embedded.
        """
        with self._transaction() as connection:
            schema, dimensions = self._begun(connection)
            digests = [text_digest(chunk.text) for chunk in chunks]
            places = rows.read_chunks_of_texts(connection, schema, digests)
            known = rows.read_vectors(connection, schema, places)
            tokens = rows.read_token_vectors(connection, schema, places)
            if missing := set(digests) - known.keys():
                raise ValueError(f"{len(missing)} chunks of {document.name!r} were never embedded")
            vectors = stacked([known[digest] for digest in digests])
            kept_tokens = stacked_tokens([tokens.get(digest) for digest in digests])
            check(document, source, chunks, vectors, kept_tokens, dimensions)
            self._lock(connection, old, document.name)
            replacing.drop(connection, schema, old)
            audience = self._audience_id(connection, document.name)
            replacing.write_document(
                connection, schema, document, source, chunks, vectors, kept_tokens, audience
            )

    def remove(self, name: str) -> None:
        """Forget a file that is gone."""
        with self._transaction() as connection:
            if (schema := self._kept(connection)) is not None:
                self._lock(connection, name)
                replacing.drop(connection, schema, name)

    def write_value(self, key: str, value: str) -> None:
        """Keep a small value with the library."""
        with self._transaction() as connection:
            library.write_value(connection, self._library, key, value)

    def share(self, role: str) -> None:
        """Let a database role read, as far as the documents' audiences allow. Raises StorageFailed."""
        with self._transaction() as connection:
            library.share(connection, self._library, role)

    def _begun(self, connection: Connection) -> tuple[str, int]:
        """The same with the dimensions of its vectors. Raises ValueError where nothing was begun."""
        stamp_id = self._building or library.read_state(connection, self._library)[0]
        if stamp_id is None:
            raise ValueError("begin(stamp) comes before the first document")
        return schema_of(stamp_id), library.read_stamp(connection, stamp_id).embedder.dimensions

    def _audience_id(self, connection: Connection, name: str) -> int:
        return library.audience_id(connection, self._audiences.role_of(name))

    def _unlock(self, connection: Connection, name: str) -> None:
        connection.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", (self._library, name))

    def _lock(self, connection: Connection, *names: str) -> None:
        """Wait until no other session writes these documents; sorted, so that no two wait for each other."""
        for name in sorted(names):
            connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (self._library, name))
