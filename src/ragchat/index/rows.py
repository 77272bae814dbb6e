"""What stands in the index's tables, read and written inside the caller's transaction.

stamp_id: whose documents. An index that is being rebuilt holds those of two stamps side by side.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, FailedDocument, Locator
from ragchat.embedding.embedder import EmbedderStamp, Int8Matrix, Matrix, TokenVectors
from ragchat.errors import IndexCorrupt, RevisionConflict
from ragchat.index.packing import (
    check,
    pack_marks,
    pack_places,
    pack_text,
    pack_tokens,
    storable,
    text_digest,
    unpack_locators,
    unpack_tags,
    unpack_text,
    unpack_tokens,
)
from ragchat.index.postings import joined
from ragchat.index.protocol import Coverage, IndexStamp, Scope, Source
from ragchat.index.ranking import Ids
from ragchat.index.tokens import tokenize
from ragchat.index.view import are_unit

_REBUILD = "ragchat index --rebuild"
_PARAMETERS = 500
"""SQLite takes a limited number of parameters in one statement."""


def read_number(connection: sqlite3.Connection, query: str, *parameters: object) -> int:
    """The one number that the query answers. Raises IndexCorrupt when there is none."""
    row = connection.execute(query, parameters).fetchone()
    if row is None:
        raise IndexCorrupt("the index lacks its own state", hint=_REBUILD)
    return int(row[0])


def read_stamp(connection: sqlite3.Connection, stamp_id: int) -> IndexStamp:
    """The stamp of this id. Raises IndexCorrupt."""
    row = connection.execute("SELECT stamp FROM stamps WHERE id = ?", (stamp_id,)).fetchone()
    try:
        fields = json.loads(row[0])
        return IndexStamp(embedder=EmbedderStamp(**fields["embedder"]), chunker=fields["chunker"])
    except (ValueError, TypeError, KeyError) as error:
        raise IndexCorrupt("the index's stamp is damaged", hint=_REBUILD) from error


def read_state(connection: sqlite3.Connection) -> tuple[int | None, int | None, int]:
    """Ids of the stamp in use and of the one being built, and the generation. Raises IndexCorrupt."""
    row = connection.execute("SELECT stamp_id, building_id, generation FROM state").fetchone()
    if row is None:
        raise IndexCorrupt("the index lacks its own state", hint=_REBUILD)
    return row[0], row[1], row[2]


def read_coverage(connection: sqlite3.Connection, stamp_id: int | None) -> Coverage:
    """Documents that can be searched, and failed ones."""
    return Coverage(
        indexed=read_number(connection, "SELECT count(*) FROM documents WHERE stamp_id = ?", stamp_id),
        failed=read_number(connection, "SELECT count(*) FROM failures WHERE stamp_id = ?", stamp_id),
        stale=0,
    )


def read_sources(connection: sqlite3.Connection, stamp_id: int | None) -> dict[str, Source]:
    """Every document and every failed file, by name."""
    rows = connection.execute(
        "SELECT name, size, modified_ns, digest, extractor, 'indexed', checked_ns, id, gaps <> '[]', tags,"
        " dated FROM documents WHERE stamp_id = :stamp UNION ALL "
        "SELECT name, size, modified_ns, digest, extractor, 'failed', checked_ns, 0, 0, '[]', '' "
        "FROM failures WHERE stamp_id = :stamp ORDER BY name",
        {"stamp": stamp_id},
    )
    return {row[0]: Source(*[*row[:-2], unpack_tags(row[-2]), row[-1]]) for row in rows}


def read_failures(connection: sqlite3.Connection, stamp_id: int | None) -> list[FailedDocument]:
    """Files that could not be read, by name."""
    found = connection.execute(
        "SELECT name, reason, hint, digest, extractor FROM failures WHERE stamp_id = ? ORDER BY name",
        (stamp_id,),
    )
    return [FailedDocument(*row) for row in found]


def has_documents(connection: sqlite3.Connection, stamp_id: int | None) -> bool:
    """Whether any document can be searched under this stamp."""
    found = connection.execute("SELECT 1 FROM documents WHERE stamp_id = ? LIMIT 1", (stamp_id,))
    return found.fetchone() is not None


def count_chunks(connection: sqlite3.Connection, stamp_id: int | None) -> int:
    """How many chunks can be found: those in tables and those in segments, without the dead."""
    counts = [
        "SELECT count(*) FROM recent WHERE stamp_id = ?",
        "SELECT coalesce(sum(chunks), 0) FROM segments WHERE stamp_id = ?",
        "SELECT -coalesce(sum(last_chunk - first_chunk + 1), 0) FROM dead WHERE stamp_id = ?",
    ]
    return sum(read_number(connection, query, stamp_id) for query in counts)


def forget_others(connection: sqlite3.Connection, stamp_id: int, limit: int) -> bool:
    """Delete what was made under other stamps, at most so many documents; whether any are left."""
    connection.execute(
        "DELETE FROM documents WHERE id IN (SELECT id FROM documents WHERE stamp_id != ? LIMIT ?)",
        (stamp_id, limit),
    )
    for table in ("failures", "segments", "dead"):
        connection.execute(f"DELETE FROM {table} WHERE stamp_id != ?", (stamp_id,))
    left = connection.execute("SELECT 1 FROM documents WHERE stamp_id != ? LIMIT 1", (stamp_id,)).fetchone()
    if left is None:
        connection.execute("DELETE FROM stamps WHERE id != ?", (stamp_id,))
    return left is not None


def read_chunks(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> list[Chunk]:
    """The chunks, in the order asked for. Raises IndexCorrupt when one is missing."""
    found: dict[int, Chunk] = {}
    texts: dict[int, str] = {}
    rows = _select(
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
        raise IndexCorrupt("the index lacks chunks that its search finds", hint=_REBUILD)
    return [found[chunk_id] for chunk_id in chunk_ids]


def read_neighbours(
    connection: sqlite3.Connection, chunk_ids: Sequence[int]
) -> list[tuple[Chunk | None, Chunk | None]]:
    """The chunks right before and after each in the same section of its document."""
    beside = "SELECT n.id FROM chunks n WHERE n.document_id = c.document_id AND n.section = c.section"
    found = _select(
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
    rows = _select(
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


def read_documents_in(connection: sqlite3.Connection, stamp_id: int, scope: Scope) -> Ids:
    """Ids of the documents in the scope, ascending."""
    if scope.documents is not None:
        wanted = [name for name in scope.documents if scope.admits(name)]
        found = _select(
            connection, "SELECT id FROM documents WHERE stamp_id = ? AND name IN", wanted, before=(stamp_id,)
        )
    else:
        found = iter(
            connection.execute(
                "SELECT id FROM documents WHERE stamp_id = ? AND name >= ? AND substr(name, 1, ?) = ?",
                (stamp_id, scope.prefix, len(scope.prefix), scope.prefix),
            )
        )
    return np.sort(np.fromiter((row[0] for row in found), dtype=np.int64))


def read_names(connection: sqlite3.Connection, document_ids: Sequence[int]) -> dict[int, str]:
    """The names of documents, by id."""
    return dict(_select(connection, "SELECT id, name FROM documents WHERE id IN", document_ids))


def read_recent_vectors(
    connection: sqlite3.Connection, chunk_ids: Sequence[int]
) -> Iterator[tuple[int, bytes]]:
    """Vectors, as stored, of the chunks that no segment file has yet."""
    return _select(connection, "SELECT chunk_id, vector FROM recent WHERE chunk_id IN", chunk_ids)


def read_recent_tokens(connection: sqlite3.Connection, chunk_ids: Sequence[int]) -> dict[int, Int8Matrix]:
    """Token vectors of the chunks that no segment file has yet, as far as they have any."""
    rows = _select(
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


def require_revision(connection: sqlite3.Connection, stamp_id: int, name: str, expected: int) -> None:
    """Raise RevisionConflict unless the document is still at this revision; 0: not there."""
    row = connection.execute(
        "SELECT id FROM documents WHERE stamp_id = ? AND name = ?", (stamp_id, name)
    ).fetchone()
    if (row[0] if row else 0) != expected:
        raise RevisionConflict(f"{name} was indexed by another program meanwhile", hint="ragchat index")


def facts(source: Source) -> tuple[int, int, int, str, str]:
    """What is known of the file, in the order of the columns of documents and failures."""
    return source.size, source.modified_ns, source.checked_ns, source.digest, source.extractor


def write_failure(
    connection: sqlite3.Connection, stamp_id: int, failure: FailedDocument, source: Source
) -> None:
    """Put the failure in place of whatever has its name."""
    drop(connection, stamp_id, failure.name)
    connection.execute(
        "INSERT INTO failures (stamp_id, name, reason, hint, size, modified_ns, checked_ns, digest,"
        " extractor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (stamp_id, failure.name, storable(failure.reason), storable(failure.hint), *facts(source)),
    )


def touch(connection: sqlite3.Connection, stamp_id: int | None, source: Source) -> None:
    """Keep the file's new size, time and check."""
    for table in ("documents", "failures"):
        connection.execute(
            f"UPDATE {table} SET size = ?, modified_ns = ?, checked_ns = ? WHERE stamp_id = ? AND name = ?",
            (source.size, source.modified_ns, source.checked_ns, stamp_id, source.name),
        )


def drop(connection: sqlite3.Connection, stamp_id: int, name: str) -> None:
    """Delete the document and the failure of this name, with all that belongs to them."""
    row = connection.execute(
        "SELECT id FROM documents WHERE stamp_id = ? AND name = ?", (stamp_id, name)
    ).fetchone()
    if row is not None:
        _bury(connection, stamp_id, row[0])
        connection.execute("DELETE FROM documents WHERE id = ?", row)
    connection.execute("DELETE FROM failures WHERE stamp_id = ? AND name = ?", (stamp_id, name))


def _bury(connection: sqlite3.Connection, stamp_id: int, document_id: int) -> None:
    """Where a segment holds the document's chunks, note that they are dead.

    The ids of its chunks follow each other: they were inserted in one transaction.
    """
    first, last, sealed = connection.execute(
        "SELECT min(c.id), max(c.id), max(r.chunk_id IS NULL) FROM chunks c "
        "LEFT JOIN recent r ON r.chunk_id = c.id WHERE c.document_id = ?",
        (document_id,),
    ).fetchone()
    if sealed:
        connection.execute(
            "INSERT INTO dead (stamp_id, first_chunk, last_chunk) VALUES (?, ?, ?)", (stamp_id, first, last)
        )


def document_locators(connection: sqlite3.Connection, stamp_id: int | None, name: str) -> tuple[Locator, ...]:
    """Its pages, rows and the like; none for an unknown document."""
    row = connection.execute(
        "SELECT locators FROM documents WHERE stamp_id = ? AND name = ?", (stamp_id, name)
    ).fetchone()
    return unpack_locators(row[0]) if row else ()


def read_gaps(connection: sqlite3.Connection, stamp_id: int | None) -> dict[str, tuple[str, ...]]:
    """What of each document could not be read, by name; only those of which something could not."""
    found = connection.execute(
        "SELECT name, gaps FROM documents WHERE stamp_id = ? AND gaps <> '[]' ORDER BY name", (stamp_id,)
    )
    return {name: tuple(json.loads(gaps)) for name, gaps in found}


def document_text(connection: sqlite3.Connection, stamp_id: int | None, name: str) -> str | None:
    """The canonical text; None for an unknown document."""
    row = connection.execute(
        "SELECT t.text FROM texts t JOIN documents d ON d.id = t.document_id "
        "WHERE d.stamp_id = ? AND d.name = ?",
        (stamp_id, name),
    ).fetchone()
    return None if row is None else unpack_text(row[0])


def unpack_vectors(blobs: Sequence[bytes], dimensions: int) -> Matrix:
    """Stored unit vectors as rows, shape (len(blobs), dimensions). Raises IndexCorrupt for anything else."""
    if any(len(blob) != 4 * dimensions for blob in blobs):
        raise IndexCorrupt("the index holds vectors of another length", hint=_REBUILD)
    matrix: Matrix = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), dimensions)
    if not are_unit(matrix):
        raise IndexCorrupt("the index holds vectors that are not of unit length", hint=_REBUILD)
    return matrix


@functools.lru_cache(maxsize=1024)
def _unpack_section(packed: str) -> tuple[str, ...]:
    """Passages of one question often stand in few sections."""
    return tuple(json.loads(packed))


def _read_text(connection: sqlite3.Connection, document_id: int) -> str:
    row = connection.execute("SELECT text FROM texts WHERE document_id = ?", (document_id,)).fetchone()
    if row is None:
        raise IndexCorrupt("the index lacks a document's text", hint=_REBUILD)
    return unpack_text(row[0])


def _select(
    connection: sqlite3.Connection,
    query: str,
    values: Sequence[object],
    *,
    before: Iterable[object] = (),
    after: str = "",
) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Rows of `query (…) after`, asked for in as many statements as the values need."""
    for start in range(0, len(values), _PARAMETERS):
        some = values[start : start + _PARAMETERS]
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"{query} ({marks}) {after}", (*before, *some))
