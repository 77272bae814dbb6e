"""What stands in the index's tables, read and written inside the caller's transaction."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document
from ragchat.embedding.embedder import EmbedderStamp, Matrix, Vector
from ragchat.errors import IndexCorrupt, IndexMissing
from ragchat.index.protocol import Coverage, IndexStamp, Source
from ragchat.index.snapshot import MemorySnapshot, StoredChunk, StoredDocument, are_unit, pack_text

_FLOAT = np.dtype("<f4")
_PARAMETERS = 500
"""SQLite takes a limited number of parameters in one statement."""


def text_digest(text: str) -> str:
    """What a chunk's text is known by: its sha256, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_number(connection: sqlite3.Connection, query: str, *parameters: object) -> int:
    """The one number that the query answers. Raises IndexCorrupt when there is none."""
    row = connection.execute(query, parameters).fetchone()
    if row is None:
        raise IndexCorrupt("the index lacks its own state", hint="ragchat index --rebuild")
    return int(row[0])


def read_stamp(connection: sqlite3.Connection) -> tuple[int, IndexStamp] | None:
    """The stamp the index is kept under, with its row's id."""
    row = connection.execute(
        "SELECT stamps.id, stamps.stamp FROM state JOIN stamps ON stamps.id = state.stamp_id"
    ).fetchone()
    if row is None:
        return None
    try:
        fields = json.loads(row[1])
        return row[0], IndexStamp(embedder=EmbedderStamp(**fields["embedder"]), chunker=fields["chunker"])
    except (ValueError, TypeError, KeyError) as error:
        raise IndexCorrupt("the index's stamp is damaged", hint="ragchat index --rebuild") from error


def read_stamp_id(connection: sqlite3.Connection) -> int | None:
    """The id alone; None before anything was indexed."""
    current = read_stamp(connection)
    return None if current is None else current[0]


def read_coverage(connection: sqlite3.Connection) -> Coverage:
    """Documents of the current stamp, failed ones, and those of another stamp."""
    stamp_id = read_stamp_id(connection)
    return Coverage(
        indexed=read_number(connection, "SELECT count(*) FROM documents WHERE stamp_id IS ?", stamp_id),
        failed=read_number(connection, "SELECT count(*) FROM failures"),
        stale=read_number(connection, "SELECT count(*) FROM documents WHERE stamp_id IS NOT ?", stamp_id),
    )


def read_sources(connection: sqlite3.Connection) -> dict[str, Source]:
    """Every document and every failed file, by name."""
    rows = connection.execute(
        "SELECT name, size, modified_ns, digest, extractor,"
        " CASE WHEN stamp_id IS ? THEN 'indexed' ELSE 'stale' END, checked_ns FROM documents "
        "UNION ALL SELECT name, size, modified_ns, digest, extractor, 'failed', checked_ns FROM failures "
        "ORDER BY name",
        (read_stamp_id(connection),),
    )
    return {row[0]: Source(*row) for row in rows}


def read_snapshot(connection: sqlite3.Connection, known_tokens: Mapping[int, list[str]]) -> MemorySnapshot:
    """All chunks of the current stamp, loaded. Raises IndexMissing, IndexCorrupt."""
    current = read_stamp(connection)
    if current is None:
        raise IndexMissing("this folder has no index yet", hint="ragchat index")
    stamp_id, stamp = current
    documents = {
        row[0]: StoredDocument(*row[1:])
        for row in connection.execute(
            "SELECT id, name, title, text FROM documents WHERE stamp_id = ?", (stamp_id,)
        )
    }
    rows = connection.execute(
        'SELECT v.vector, c.id, c.document_id, c.section, c.start, c."end", c.first_line, c.last_line,'
        " c.context_start, c.tokens, c.header_tokens, c.locator, c.text "
        "FROM chunks c JOIN documents d ON d.id = c.document_id LEFT JOIN vectors v ON v.chunk_id = c.id "
        "WHERE d.stamp_id = ? ORDER BY c.id",
        (stamp_id,),
    ).fetchall()
    return MemorySnapshot(
        stamp,
        read_coverage(connection),
        documents,
        [StoredChunk(*row[1:]) for row in rows],
        _matrix([row[0] for row in rows], stamp.embedder.dimensions),
        known_tokens,
    )


def read_vectors(connection: sqlite3.Connection, digests: Sequence[str]) -> dict[str, Vector]:
    """Vectors of the current stamp by the digests of their chunks' texts, as far as there are any."""
    current = read_stamp(connection)
    if current is None:
        return {}
    stamp_id, stamp = current
    found: dict[str, Vector] = {}
    for start in range(0, len(digests), _PARAMETERS):
        wanted = digests[start : start + _PARAMETERS]
        rows = connection.execute(
            "SELECT c.text_digest, v.vector FROM chunks c JOIN vectors v ON v.chunk_id = c.id "
            "JOIN documents d ON d.id = c.document_id WHERE d.stamp_id = ? AND c.text_digest IN "
            f"({', '.join('?' * len(wanted))}) GROUP BY c.text_digest",
            (stamp_id, *wanted),
        ).fetchall()
        matrix = _matrix([row[1] for row in rows], stamp.embedder.dimensions)
        found.update({row[0]: vector for row, vector in zip(rows, matrix, strict=True)})
    return found


def read_document_vectors(connection: sqlite3.Connection, name: str) -> dict[str, Vector]:
    """Vectors of one document by the digests of its chunks' texts, if it is of the current stamp."""
    digests = connection.execute(
        "SELECT c.text_digest FROM chunks c JOIN documents d ON d.id = c.document_id "
        "WHERE d.name = ? AND d.stamp_id = (SELECT stamp_id FROM state)",
        (name,),
    ).fetchall()
    return read_vectors(connection, [row[0] for row in digests])


def write_document(
    connection: sqlite3.Connection,
    document: Document,
    source: Source,
    chunks: Sequence[Chunk],
    vectors: Matrix,
) -> None:
    """Put the document in place of whatever has its name. Raises ValueError for what does not fit."""
    current = read_stamp(connection)
    if current is None:
        raise ValueError("begin(stamp) comes before the first document")
    stamp_id, stamp = current
    _check(document, source, chunks, vectors, stamp.embedder.dimensions)
    drop(connection, document.name)
    document_id = connection.execute(
        "INSERT INTO documents (name, stamp_id, title, text, size, modified_ns, checked_ns, digest,"
        " extractor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (document.name, stamp_id, document.title, pack_text(document.text), *facts(source)),
    ).lastrowid
    for chunk, vector in zip(chunks, vectors.astype(_FLOAT, copy=False), strict=True):
        chunk_id = connection.execute(
            'INSERT INTO chunks (document_id, section, start, "end", first_line, last_line, context_start,'
            " tokens, header_tokens, locator, text, text_digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                document_id,
                json.dumps(chunk.section),
                chunk.start,
                chunk.end,
                chunk.first_line,
                chunk.last_line,
                chunk.context_start,
                chunk.tokens,
                chunk.header_tokens,
                chunk.locator,
                chunk.text,
                text_digest(chunk.text),
            ),
        ).lastrowid
        connection.execute("INSERT INTO vectors VALUES (?, ?)", (chunk_id, vector.tobytes()))


def facts(source: Source) -> tuple[int, int, int, str, str]:
    """What is known of the file, in the order of the columns of documents and failures."""
    return source.size, source.modified_ns, source.checked_ns, source.digest, source.extractor


def drop(connection: sqlite3.Connection, name: str) -> None:
    """Delete the document and the failure of this name, with all that belongs to them."""
    connection.execute("DELETE FROM documents WHERE name = ?", (name,))
    connection.execute("DELETE FROM failures WHERE name = ?", (name,))


def _check(
    document: Document, source: Source, chunks: Sequence[Chunk], vectors: Matrix, dimensions: int
) -> None:
    if source.name != document.name:
        raise ValueError(f"the source of {document.name!r} is named {source.name!r}")
    if len(vectors) != len(chunks) or (chunks and vectors.shape[1] != dimensions):
        raise ValueError(f"{document.name!r}: vectors of shape {vectors.shape} for {len(chunks)} chunks")
    if not are_unit(vectors):
        raise ValueError(f"{document.name!r}: vectors are not of unit length")
    for chunk in chunks:
        if (chunk.document, chunk.title) != (document.name, document.title):
            raise ValueError(f"{document.name!r} is given a chunk of {chunk.document!r} ({chunk.title!r})")
        if document.text[chunk.start : chunk.end] != chunk.content:
            raise ValueError(f"{document.name!r}: a chunk is no slice of it at {chunk.start}-{chunk.end}")


def _matrix(blobs: Sequence[bytes | None], dimensions: int) -> Matrix:
    """Stored vectors as rows, shape (len(blobs), dimensions). Raises IndexCorrupt for a wrong length."""
    whole = [blob for blob in blobs if blob is not None and len(blob) == dimensions * _FLOAT.itemsize]
    if len(whole) != len(blobs):
        raise IndexCorrupt("the index holds vectors of another length", hint="ragchat index --rebuild")
    matrix: Matrix = np.frombuffer(b"".join(whole), dtype=_FLOAT).reshape(len(whole), dimensions)
    return matrix
