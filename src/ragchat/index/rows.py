"""Stamps, documents and failures in the index's tables, read and written inside the caller's transaction.

stamp_id: whose documents. An index that is being rebuilt holds those of two stamps side by side.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

import numpy as np

from ragchat.documents.document import FailedDocument, Locator
from ragchat.embedding.embedder import EmbedderStamp
from ragchat.errors import IndexCorrupt, RevisionConflict
from ragchat.index.packing import (
    storable,
    unpack_locators,
    unpack_tags,
    unpack_text,
)
from ragchat.index.protocol import Coverage, Heading, IndexStamp, Scope
from ragchat.index.queries import REBUILD, read_number, select
from ragchat.index.ranking import Ids
from ragchat.index.source import Source


def read_stamp(connection: sqlite3.Connection, stamp_id: int) -> IndexStamp:
    """The stamp of this id. Raises IndexCorrupt."""
    row = connection.execute("SELECT stamp FROM stamps WHERE id = ?", (stamp_id,)).fetchone()
    try:
        fields = json.loads(row[0])
        return IndexStamp(embedder=EmbedderStamp(**fields["embedder"]), chunker=fields["chunker"])
    except (ValueError, TypeError, KeyError) as error:
        raise IndexCorrupt("the index's stamp is damaged", hint=REBUILD) from error


def read_state(connection: sqlite3.Connection) -> tuple[int | None, int | None, int]:
    """Ids of the stamp in use and of the one being built, and the generation. Raises IndexCorrupt."""
    row = connection.execute("SELECT stamp_id, building_id, generation FROM state").fetchone()
    if row is None:
        raise IndexCorrupt("the index lacks its own state", hint=REBUILD)
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
    return {row[0]: Source._make((*row[:-2], unpack_tags(row[-2]), row[-1])) for row in rows}


def read_sections(connection: sqlite3.Connection, stamp_id: int | None) -> list[Heading]:
    """Every section with its first passage. The other columns are those of the minimum's row."""
    found = connection.execute(
        'SELECT d.name, c.section, min(c.start), c."end", c.first_line FROM chunks c '
        "JOIN documents d ON d.id = c.document_id WHERE d.stamp_id = ? "
        "GROUP BY d.name, c.section ORDER BY d.name, min(c.start)",
        (stamp_id,),
    )
    return [Heading(name, tuple(json.loads(packed)), *place) for name, packed, *place in found]


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


def read_documents_in(connection: sqlite3.Connection, stamp_id: int, scope: Scope) -> Ids:
    """Ids of the documents in the scope, ascending."""
    if scope.documents is not None:
        wanted = [name for name in scope.documents if scope.admits(name)]
        found = select(
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
    return dict(select(connection, "SELECT id, name FROM documents WHERE id IN", document_ids))


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
