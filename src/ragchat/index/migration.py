"""Turn the tables of an earlier ragchat into those of this one, in the caller's transaction.

Version 1 kept every vector in a table. They go to `recent`, from where they are sealed into a segment like
those of any other document; the ids of chunks stay, and nothing is embedded again.
"""

from __future__ import annotations

import sqlite3

from ragchat.index.tables import TABLES, execute_all

_COPY = """
INSERT INTO stamps SELECT id, stamp FROM old_stamps;
UPDATE state SET stamp_id = (SELECT stamp_id FROM old_state),
    generation = 1 + (SELECT generation FROM old_state);
INSERT INTO documents (id, stamp_id, name, title, size, modified_ns, checked_ns, digest, extractor)
    SELECT id, stamp_id, name, title, size, modified_ns, checked_ns, digest, extractor FROM old_documents
    WHERE stamp_id = (SELECT stamp_id FROM state);
INSERT INTO texts SELECT id, text FROM old_documents WHERE id IN (SELECT id FROM documents);
INSERT INTO chunks (id, document_id, section, start, "end", first_line, last_line, context_start, tokens,
        header_tokens, locator, text, text_digest)
    SELECT id, document_id, section, start, "end", first_line, last_line, context_start, tokens,
        header_tokens, locator, text, bytes_of(text_digest)
    FROM old_chunks WHERE document_id IN (SELECT id FROM documents) ORDER BY id;
INSERT INTO recent (chunk_id, stamp_id, vector)
    SELECT chunk_id, (SELECT stamp_id FROM state), vector FROM old_vectors
    WHERE chunk_id IN (SELECT id FROM chunks);
INSERT INTO failures
    SELECT (SELECT stamp_id FROM state), name, reason, hint, size, modified_ns, checked_ns, digest, extractor
    FROM old_failures WHERE (SELECT stamp_id FROM state) IS NOT NULL;
INSERT INTO "values" SELECT key, value FROM old_values;
"""

_OLD_TABLES = ("vectors", "chunks", "documents", "failures", "values", "state", "stamps")


def convert_version_1(connection: sqlite3.Connection) -> None:
    """Every document of the stamp in use, with its chunks and vectors. Foreign keys must not be enforced."""
    connection.create_function("bytes_of", 1, bytes.fromhex, deterministic=True)
    used = dict(connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    for index in ("chunks_of_document", "chunks_of_text"):
        connection.execute(f"DROP INDEX {index}")
    for table in _OLD_TABLES:
        connection.execute(f'ALTER TABLE "{table}" RENAME TO "old_{table}"')
    execute_all(connection, TABLES)
    execute_all(connection, _COPY)
    for table in _OLD_TABLES:
        connection.execute(f'DROP TABLE "old_{table}"')
    # An id that was given once is never given again.
    for table in ("documents", "chunks"):
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        connection.execute("INSERT INTO sqlite_sequence VALUES (?, ?)", (table, used.get(table, 0)))
