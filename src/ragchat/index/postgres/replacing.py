"""A document put in place, or taken away, with everything that hangs on it; in the caller's transaction.

Titles, sections and reasons are kept as JSON, texts as bytes: a note may hold NUL, which PostgreSQL's text
cannot.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, FailedDocument
from ragchat.embedding.embedder import Matrix, TokenVectors
from ragchat.errors import RevisionConflict
from ragchat.index.packing import (
    pack_marks,
    pack_places,
    pack_text,
    pack_tokens,
    text_digest,
)
from ragchat.index.postgres.rows import revision, vector_text
from ragchat.index.source import Source
from ragchat.index.tokens import tokenize

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

_SHARDS = 64


def require_revision(connection: Connection, schema: str, name: str, expected: int) -> None:
    """Raise RevisionConflict unless the document is still at this revision; 0: not there."""
    if revision(connection, schema, name) != expected:
        raise RevisionConflict(f"{name} was indexed by another program meanwhile", hint="ragchat index")


def write_document(
    connection: Connection,
    schema: str,
    document: Document,
    source: Source,
    chunks: Sequence[Chunk],
    vectors: Matrix,
    tokens: TokenVectors | None,
    audience: int,
) -> None:
    """Put the document in place of whatever has its name: its chunks, vectors, words and counts."""
    drop(connection, schema, document.name)
    row = connection.execute(
        f"INSERT INTO {schema}.documents (name, audience, revision, title, size, modified_ns, checked_ns,"
        " digest, extractor, locators, gaps, tags, dated, text)"
        f" VALUES (%s, %s, nextval('{schema}.revisions'), %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
        " RETURNING id",
        (
            document.name,
            audience,
            json.dumps(document.title),
            *facts(source),
            *pack_places(document),
            *pack_marks(document),
            pack_text(document.text),
        ),
    ).fetchone()
    assert row is not None
    ids = [
        int(found[0])
        for found in connection.execute(
            f"SELECT nextval(pg_get_serial_sequence('{schema}.chunks', 'id')) FROM generate_series(1, %s)",
            (len(chunks),),
        )
    ]
    words = [Counter(tokenize(chunk.text)) for chunk in chunks]
    lengths = [sum(found.values()) for found in words]
    _copy(
        connection,
        f'{schema}.chunks (id, document_id, audience, length, section, start, "end", first_line, last_line,'
        " context_start, tokens, header_tokens, locator, text, text_digest)",
        (
            (
                chunk_id, row[0], audience, length, json.dumps(chunk.section), chunk.start, chunk.end,
                chunk.first_line, chunk.last_line, chunk.context_start, chunk.tokens, chunk.header_tokens,
                chunk.locator, chunk.text.encode(), text_digest(chunk.text),
            )
            for chunk_id, length, chunk in zip(ids, lengths, chunks, strict=True)
        ),
    )  # fmt: skip
    _copy(
        connection,
        f"{schema}.vectors (chunk_id, audience, vector, token_vectors)",
        (
            (
                chunk_id,
                audience,
                vector_text(vectors[place]),
                None if tokens is None else pack_tokens(tokens.rows(place)),
            )
            for place, chunk_id in enumerate(ids)
        ),
    )
    _copy(
        connection,
        f"{schema}.words (token, chunk_id, audience, frequency, length)",
        (
            (token, chunk_id, audience, frequency, length)
            for chunk_id, length, found in zip(ids, lengths, words, strict=True)
            for token, frequency in found.items()
        ),
    )
    counts = Counter(token for found in words for token in found)
    _count(connection, schema, audience, counts, len(chunks), sum(lengths))


def write_failure(
    connection: Connection, schema: str, audience: int, failure: FailedDocument, source: Source
) -> None:
    """Put the failure in place of whatever has its name."""
    drop(connection, schema, failure.name)
    connection.execute(
        f"INSERT INTO {schema}.failures (name, audience, reason, hint, size, modified_ns, checked_ns, digest,"
        " extractor) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (failure.name, audience, json.dumps(failure.reason), json.dumps(failure.hint), *facts(source)),
    )


def touch(connection: Connection, schema: str, source: Source) -> None:
    """Keep the file's new size, time and check."""
    for table in ("documents", "failures"):
        connection.execute(
            f"UPDATE {schema}.{table} SET size = %s, modified_ns = %s, checked_ns = %s WHERE name = %s",
            (source.size, source.modified_ns, source.checked_ns, source.name),
        )


def drop(connection: Connection, schema: str, name: str) -> None:
    """Delete the document and the failure of this name, and take its words out of the counters."""
    connection.execute(f"DELETE FROM {schema}.failures WHERE name = %s", (name,))
    row = connection.execute(
        f"SELECT id, audience FROM {schema}.documents WHERE name = %s FOR UPDATE", (name,)
    ).fetchone()
    if row is None:
        return
    document_id, audience = row
    words = connection.execute(
        f"SELECT w.token, count(*) FROM {schema}.words w JOIN {schema}.chunks c ON c.id = w.chunk_id "
        "WHERE c.document_id = %s GROUP BY w.token",
        (document_id,),
    ).fetchall()
    chunks, length = connection.execute(
        f"SELECT count(*), coalesce(sum(length), 0) FROM {schema}.chunks WHERE document_id = %s",
        (document_id,),
    ).fetchone() or (0, 0)
    connection.execute(f"DELETE FROM {schema}.documents WHERE id = %s", (document_id,))
    _count(connection, schema, audience, {token: -n for token, n in words}, -int(chunks), -int(length))


def facts(source: Source) -> tuple[int, int, int, str, str]:
    """What is known of the file, in the order of the columns of documents and failures."""
    return source.size, source.modified_ns, source.checked_ns, source.digest, source.extractor


def _copy(connection: Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


def _count(
    connection: Connection,
    schema: str,
    audience: int,
    words: Mapping[str, int],
    chunks: int,
    length: int,
) -> None:
    """Add to the counters, in this session's own shard; sorted, so that no two sessions wait in a ring."""
    shard = connection.info.backend_pid % _SHARDS
    if words:
        connection.execute(
            f"INSERT INTO {schema}.word_counts AS old SELECT token, %s, %s, n "
            'FROM unnest(%s::text[], %s::bigint[]) AS new (token, n) ORDER BY token COLLATE "C" '
            "ON CONFLICT (token, audience, shard) DO UPDATE SET chunks = old.chunks + excluded.chunks",
            (audience, shard, list(words), list(words.values())),
        )
    connection.execute(
        f"INSERT INTO {schema}.totals AS old VALUES (%s, %s, %s, %s, 1) ON CONFLICT (audience, shard) "
        "DO UPDATE SET chunks = old.chunks + excluded.chunks, length = old.length + excluded.length,"
        " changes = old.changes + 1",
        (audience, shard, chunks, length),
    )
