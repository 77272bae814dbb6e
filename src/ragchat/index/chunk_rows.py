"""Chunks in the index's tables, with the vectors that no segment file has yet.

They are read and written inside the caller's transaction. stamp_id: whose documents, as in `rows.py`.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document
from ragchat.embedding.embedder import Int8Matrix, Matrix, TokenVectors
from ragchat.errors import IndexCorrupt
from ragchat.index.packing import (
    check,
    pack_marks,
    pack_places,
    pack_text,
    pack_tokens,
    text_digest,
    unpack_text,
    unpack_tokens,
)
from ragchat.index.postings import joined
from ragchat.index.queries import REBUILD, read_number, select
from ragchat.index.rows import drop, facts, read_stamp
from ragchat.index.source import Source
from ragchat.index.tokens import tokenize
from ragchat.index.view import are_unit


def count_chunks_of(connection: sqlite3.Connection, stamp_id: int | None, name: str) -> int:
    """How many chunks one document has."""
    of_it = "SELECT id FROM documents WHERE stamp_id = ? AND name = ?"
    query = f"SELECT count(*) FROM chunks WHERE document_id IN ({of_it})"
    return read_number(connection, query, stamp_id, name)


def count_chunks(connection: sqlite3.Connection, stamp_id: int | None) -> int:
    """How many chunks can be found: those in tables and those in segments, without the dead."""
    counts = [
        "SELECT count(*) FROM recent WHERE stamp_id = ?",
        "SELECT coalesce(sum(chunks), 0) FROM segments WHERE stamp_id = ?",
        "SELECT -coalesce(sum(last_chunk - first_chunk + 1), 0) FROM dead WHERE stamp_id = ?",
    ]
    return sum(read_number(connection, query, stamp_id) for query in counts)


def read_chunks(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> list[Chunk]:
    """The chunks, in the order asked for. Raises IndexCorrupt when one is missing."""
    found: dict[int, Chunk] = {}
    texts: dict[int, str] = {}
    rows = select(
        connection,
        'SELECT c.id, d.name, d.title, c.section, c.start, c."end", c.first_line, c.last_line, c.text,'
        " c.context_start, c.tokens, c.header_tokens, c.locator, c.content_at, c.own_words, c.document_id "
        "FROM chunks c JOIN documents d ON d.id = c.document_id WHERE c.id IN",
        chunk_ids,
    )
    for row in rows:
        key, name, title, section, start, end, first, last, text, context, tokens, header, locator = row[:13]
        content_at, own_words, document_id = row[13:]
        whole, at = text, content_at
        if own_words is not None:
            whole, at = own_words, start - context
        elif content_at is None:
            if document_id not in texts:
                texts[document_id] = _read_text(connection, document_id)
            whole, at = texts[document_id], start
        found[key] = Chunk(
            document=name,
            title=title,
            section=_unpack_section(section),
            start=start,
            end=end,
            first_line=first,
            last_line=last,
            content=whole[at : at + end - start],
            text=text,
            context_start=context,
            tokens=tokens,
            header_tokens=header,
            locator=locator,
            lead=whole[at - (start - context) : at],
        )
    if len(found) < len(set(chunk_ids)):
        raise IndexCorrupt("the index lacks chunks that its search finds", hint=REBUILD)
    return [found[chunk_id] for chunk_id in chunk_ids]


def read_neighbours(
    connection: sqlite3.Connection, chunk_ids: Sequence[int]
) -> list[tuple[Chunk | None, Chunk | None]]:
    """The chunks right before and after each in the same section of its document."""
    beside = "SELECT n.id FROM chunks n WHERE n.document_id = c.document_id AND n.section = c.section"
    found = select(
        connection,
        f"SELECT c.id, ({beside} AND n.start < c.start ORDER BY n.start DESC LIMIT 1),"
        f" ({beside} AND n.start > c.start ORDER BY n.start LIMIT 1) FROM chunks c WHERE c.id IN",
        chunk_ids,
    )
    around = {chunk_id: (before, after) for chunk_id, before, after in found}
    wanted = list({chunk_id for pair in around.values() for chunk_id in pair if chunk_id is not None})
    chunks = dict(zip(wanted, read_chunks(connection, wanted), strict=True))
    pairs = (around.get(chunk_id, (None, None)) for chunk_id in chunk_ids)
    return [(chunks.get(before), chunks.get(after)) for before, after in pairs]


def read_chunks_of_texts(
    connection: sqlite3.Connection, stamp_id: int | None, digests: Sequence[str]
) -> dict[str, int]:
    """One chunk with this text for each digest, as far as there are any."""
    rows = select(
        connection,
        "SELECT c.text_digest, max(c.id) FROM chunks c JOIN documents d ON d.id = c.document_id "
        "WHERE d.stamp_id = ? AND c.text_digest IN",
        [bytes.fromhex(digest) for digest in digests],
        before=(stamp_id,),
        after="GROUP BY c.text_digest",
    )
    return {bytes(digest).hex(): chunk_id for digest, chunk_id in rows}


def read_chunks_of_document(
    connection: sqlite3.Connection, stamp_id: int | None, name: str
) -> dict[str, int]:
    """One document's chunks by the digests of their texts."""
    rows = connection.execute(
        "SELECT c.text_digest, c.id FROM chunks c JOIN documents d ON d.id = c.document_id "
        "WHERE d.name = ? AND d.stamp_id = ?",
        (name, stamp_id),
    )
    return {bytes(digest).hex(): chunk_id for digest, chunk_id in rows}


def read_recent_vectors(
    connection: sqlite3.Connection, chunk_ids: Sequence[int]
) -> Iterator[tuple[int, bytes]]:
    """Vectors, as stored, of the chunks that no segment file has yet."""
    return select(connection, "SELECT chunk_id, vector FROM recent WHERE chunk_id IN", chunk_ids)


def read_recent_tokens(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> dict[int, Int8Matrix]:
    """Token vectors of the chunks that no segment file has yet, as far as they have any."""
    rows = select(
        connection,
        "SELECT chunk_id, token_vectors FROM recent WHERE token_vectors IS NOT NULL AND chunk_id IN",
        chunk_ids,
    )
    return {chunk_id: unpack_tokens(packed) for chunk_id, packed in rows}


def write_document(
    connection: sqlite3.Connection,
    stamp_id: int,
    document: Document,
    source: Source,
    chunks: Sequence[Chunk],
    vectors: Matrix,
    tokens: TokenVectors | None,
) -> None:
    """Put the document in place of whatever has its name. Raises ValueError for what does not fit."""
    dimensions = read_stamp(connection, stamp_id).embedder.dimensions
    check(document, source, chunks, vectors, tokens, dimensions)
    drop(connection, stamp_id, document.name)
    document_id = connection.execute(
        "INSERT INTO documents (stamp_id, name, title, size, modified_ns, checked_ns, digest, extractor,"
        " locators, gaps, tags, dated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            stamp_id,
            document.name,
            document.title,
            *facts(source),
            *pack_places(document),
            *pack_marks(document),
        ),
    ).lastrowid
    connection.execute("INSERT INTO texts VALUES (?, ?)", (document_id, pack_text(document.text)))
    for place, chunk in enumerate(chunks):
        own_words = chunk.lead + chunk.content
        at = chunk.text.rfind(own_words)
        chunk_id = connection.execute(
            'INSERT INTO chunks (document_id, section, start, "end", first_line, last_line, context_start,'
            " tokens, header_tokens, locator, text, content_at, text_digest, own_words) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
                at + len(chunk.lead) if at >= 0 else None,
                bytes.fromhex(text_digest(chunk.text)),
                own_words if at < 0 else None,
            ),
        ).lastrowid
        connection.execute(
            "INSERT INTO recent VALUES (?, ?, ?, ?, ?)",
            (
                chunk_id,
                stamp_id,
                vectors[place].astype("<f4").tobytes(),
                joined(tokenize(chunk.text)),
                None if tokens is None else pack_tokens(tokens.rows(place)),
            ),
        )


def unpack_vectors(blobs: Sequence[bytes], dimensions: int) -> Matrix:
    """Stored unit vectors as rows, shape (len(blobs), dimensions). Raises IndexCorrupt for anything else."""
    if any(len(blob) != 4 * dimensions for blob in blobs):
        raise IndexCorrupt("the index holds vectors of another length", hint=REBUILD)
    matrix: Matrix = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), dimensions)
    if not are_unit(matrix):
        raise IndexCorrupt("the index holds vectors that are not of unit length", hint=REBUILD)
    return matrix


@functools.lru_cache(maxsize=1024)
def _unpack_section(packed: str) -> tuple[str, ...]:
    """Passages of one question often stand in few sections."""
    return tuple(json.loads(packed))


def _read_text(connection: sqlite3.Connection, document_id: int) -> str:
    row = connection.execute("SELECT text FROM texts WHERE document_id = ?", (document_id,)).fetchone()
    if row is None:
        raise IndexCorrupt("the index lacks a document's text", hint=REBUILD)
    return unpack_text(row[0])
