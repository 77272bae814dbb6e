"""What stands in the tables of one stamp, read and written inside the caller's transaction.

Titles, sections and reasons are kept as JSON, texts as bytes: a note may hold NUL, which PostgreSQL's text
cannot.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, FailedDocument, Locator
from ragchat.embedding.embedder import Int8Matrix, Matrix, TokenVectors, Vector
from ragchat.errors import RevisionConflict
from ragchat.index.packing import (
    pack_marks,
    pack_places,
    pack_text,
    pack_tokens,
    text_digest,
    unpack_locators,
    unpack_tags,
    unpack_text,
    unpack_tokens,
)
from ragchat.index.protocol import Coverage, Source
from ragchat.index.tokens import tokenize

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

_SHARDS = 64
_FACTS = "name, size, modified_ns, digest, extractor"


def read_coverage(connection: Connection, schema: str) -> Coverage:
    """Documents that can be searched, and failed ones."""
    row = connection.execute(
        f"SELECT (SELECT count(*) FROM {schema}.documents), (SELECT count(*) FROM {schema}.failures)"
    ).fetchone()
    indexed, failed = row or (0, 0)
    return Coverage(indexed=indexed, failed=failed, stale=0)


def read_sources(connection: Connection, schema: str) -> dict[str, Source]:
    """Every document and every failed file, by name."""
    rows = connection.execute(
        f"SELECT {_FACTS}, 'indexed', checked_ns, revision, gaps <> '[]', tags, dated FROM {schema}.documents"
        f" UNION ALL SELECT {_FACTS}, 'failed', checked_ns, 0, false, '[]', '' FROM {schema}.failures"
        " ORDER BY name"
    )
    return {row[0]: Source(*[*row[:-2], unpack_tags(row[-2]), row[-1]]) for row in rows}


def read_roles(connection: Connection, schema: str) -> dict[str, str]:
    """Who may see each document, by its name."""
    return dict(
        connection.execute(
            f"SELECT d.name, a.role FROM {schema}.documents d JOIN ragchat.audiences a ON a.id = d.audience"
        ).fetchall()
    )


def read_failures(connection: Connection, schema: str) -> list[FailedDocument]:
    """Files that could not be read, with their reasons, by name."""
    found = connection.execute(
        f"SELECT name, reason, hint, digest, extractor FROM {schema}.failures ORDER BY name"
    )
    return [
        FailedDocument(name, json.loads(reason), json.loads(hint), digest, extractor)
        for name, reason, hint, digest, extractor in found
    ]


def read_chunks_of_texts(connection: Connection, schema: str, digests: Sequence[str]) -> dict[str, int]:
    """One chunk with this text for each digest, as far as there are any."""
    rows = connection.execute(
        f'SELECT text_digest, max(id) FROM {schema}.chunks WHERE text_digest = ANY (%s::text[] COLLATE "C")'
        " GROUP BY text_digest",
        (list(digests),),
    )
    return dict(rows.fetchall())


def read_chunks_of_document(connection: Connection, schema: str, name: str) -> dict[str, int]:
    """One document's chunks by the digests of their texts."""
    rows = connection.execute(
        f"SELECT c.text_digest, c.id FROM {schema}.chunks c JOIN {schema}.documents d ON d.id = c.document_id"
        " WHERE d.name = %s",
        (name,),
    )
    return dict(rows.fetchall())


def read_vectors(connection: Connection, schema: str, places: Mapping[str, int]) -> dict[str, Vector]:
    """The vectors of these chunks, by what they are asked for with."""
    found = _by_chunk(connection, schema, "vector_send(vector)", places)
    return {key: vector_of(sent) for key, sent in found.items()}


def read_token_vectors(
    connection: Connection, schema: str, places: Mapping[str, int]
) -> dict[str, Int8Matrix]:
    """Token vectors of these chunks, of those that have some."""
    found = _by_chunk(connection, schema, "token_vectors", places)
    return {key: unpack_tokens(packed) for key, packed in found.items()}


def _by_chunk(
    connection: Connection, schema: str, column: str, places: Mapping[str, int]
) -> dict[str, bytes]:
    rows = connection.execute(
        f"SELECT chunk_id, {column} FROM {schema}.vectors WHERE chunk_id = ANY (%s) AND {column} IS NOT NULL",
        (list(places.values()),),
        binary=True,
    ).fetchall()
    found = {chunk_id: bytes(value) for chunk_id, value in rows}
    return {key: found[chunk_id] for key, chunk_id in places.items() if chunk_id in found}


def revision(connection: Connection, schema: str, name: str) -> int:
    """The document's revision; 0: not there."""
    row = connection.execute(f"SELECT revision FROM {schema}.documents WHERE name = %s", (name,)).fetchone()
    return 0 if row is None else int(row[0])


def require_revision(connection: Connection, schema: str, name: str, expected: int) -> None:
    """Raise RevisionConflict unless the document is still at this revision; 0: not there."""
    if revision(connection, schema, name) != expected:
        raise RevisionConflict(f"{name} was indexed by another program meanwhile", hint="ragchat index")


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


def document_locators(connection: Connection, schema: str, name: str) -> tuple[Locator, ...]:
    """Its pages, rows and the like; none for an unknown document."""
    row = connection.execute(f"SELECT locators FROM {schema}.documents WHERE name = %s", (name,)).fetchone()
    return () if row is None else unpack_locators(row[0])


def read_gaps(connection: Connection, schema: str) -> dict[str, tuple[str, ...]]:
    """What of each document could not be read, by name; only those of which something could not."""
    found = connection.execute(
        f"SELECT name, gaps FROM {schema}.documents WHERE gaps <> '[]' ORDER BY name"
    ).fetchall()
    return {name: tuple(json.loads(gaps)) for name, gaps in found}


def document_text(connection: Connection, schema: str, name: str) -> str | None:
    """The canonical text; None for an unknown document."""
    row = connection.execute(f"SELECT text FROM {schema}.documents WHERE name = %s", (name,)).fetchone()
    return None if row is None else unpack_text(bytes(row[0]))


def vector_of(sent: bytes) -> Vector:
    """The numbers of pgvector's binary form: two 16-bit integers, then big-endian floats."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32)


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


def facts(source: Source) -> tuple[int, int, int, str, str]:
    """What is known of the file, in the order of the columns of documents and failures."""
    return source.size, source.modified_ns, source.checked_ns, source.digest, source.extractor


def vector_text(vector: Vector) -> str:
    """pgvector's text form, with every digit that a float32 has."""
    return "[" + ",".join([format(value, ".9g") for value in vector.tolist()]) + "]"


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
