"""What stands in the tables of one stamp, read inside the caller's transaction.

Titles, sections and reasons are kept as JSON, texts as bytes: a note may hold NUL, which PostgreSQL's text
cannot.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragchat.documents.document import FailedDocument, Locator
from ragchat.embedding.embedder import Int8Matrix, Vector
from ragchat.index.packing import (
    unpack_locators,
    unpack_tags,
    unpack_text,
    unpack_tokens,
)
from ragchat.index.protocol import Coverage, Heading
from ragchat.index.source import Source

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

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
    return {row[0]: Source._make((*row[:-2], unpack_tags(row[-2]), row[-1])) for row in rows}


def read_roles(connection: Connection, schema: str) -> dict[str, str]:
    """Who may see each document, by its name."""
    return dict(
        connection.execute(
            f"SELECT d.name, a.role FROM {schema}.documents d JOIN ragchat.audiences a ON a.id = d.audience"
        ).fetchall()
    )


def read_sections(connection: Connection, schema: str) -> list[Heading]:
    """Every section with its first passage."""
    found = connection.execute(
        'SELECT DISTINCT ON (d.id, c.section) d.name, c.section, c.start, c."end", c.first_line '
        f"FROM {schema}.chunks c JOIN {schema}.documents d ON d.id = c.document_id "
        "ORDER BY d.id, c.section, c.start"
    )
    headings = [Heading(name, tuple(json.loads(packed)), *place) for name, packed, *place in found]
    return sorted(headings, key=lambda each: (each.document, each.start))


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


def count_chunks_of(connection: Connection, schema: str, name: str) -> int:
    """How many chunks one document has."""
    row = connection.execute(
        f"SELECT count(*) FROM {schema}.chunks WHERE document_id IN"
        f" (SELECT id FROM {schema}.documents WHERE name = %s)",
        (name,),
    ).fetchone()
    return 0 if row is None else int(row[0])


def document_text(connection: Connection, schema: str, name: str) -> str | None:
    """The canonical text; None for an unknown document."""
    row = connection.execute(f"SELECT text FROM {schema}.documents WHERE name = %s", (name,)).fetchone()
    return None if row is None else unpack_text(bytes(row[0]))


def vector_of(sent: bytes) -> Vector:
    """The numbers of pgvector's binary form: two 16-bit integers, then big-endian floats."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32)


def vector_text(vector: Vector) -> str:
    """pgvector's text form, with every digit that a float32 has."""
    return "[" + ",".join([format(value, ".9g") for value in vector.tolist()]) + "]"
