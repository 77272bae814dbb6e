"""The tables of one index, and what each version of them has added."""

from __future__ import annotations

import sqlite3

SCHEMA_VERSION = 4

# AUTOINCREMENT: the id of a chunk or a document is never given to another one. What is cached by id stays
# true, a segment names chunks by ranges of ids, and a document's id is its revision.
# Names compare as bytes: two that differ only in case or in Unicode form are two files.
# A chunk's lead and content are found in its text at `content_at`, or else stand in `own_words`; an earlier
# ragchat left both NULL, and they are cut from the document.
# A chunk's vectors stand in `recent` until a segment file has them, so that no vector lies on the disk twice.
TABLES = """
CREATE TABLE stamps (
    id INTEGER PRIMARY KEY,
    stamp TEXT NOT NULL UNIQUE
);
CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    stamp_id INTEGER REFERENCES stamps (id),
    building_id INTEGER REFERENCES stamps (id),
    generation INTEGER NOT NULL
);
INSERT INTO state VALUES (1, NULL, NULL, 0);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    stamp_id INTEGER NOT NULL REFERENCES stamps (id),
    name TEXT NOT NULL,
    title TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL,
    digest TEXT NOT NULL,
    extractor TEXT NOT NULL,
    locators TEXT NOT NULL DEFAULT '[]',
    gaps TEXT NOT NULL DEFAULT '[]',
    tags TEXT NOT NULL DEFAULT '[]',
    dated TEXT NOT NULL DEFAULT '',
    UNIQUE (stamp_id, name)
);
CREATE TABLE texts (
    document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    text BLOB NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    section TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    context_start INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    header_tokens INTEGER NOT NULL,
    locator TEXT NOT NULL,
    text TEXT NOT NULL,
    content_at INTEGER,
    text_digest BLOB NOT NULL,
    own_words TEXT
);
CREATE INDEX chunks_of_document ON chunks (document_id);
CREATE INDEX chunks_of_text ON chunks (text_digest);
CREATE TABLE recent (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    stamp_id INTEGER NOT NULL REFERENCES stamps (id),
    vector BLOB NOT NULL,
    words TEXT,
    token_vectors BLOB
);
CREATE INDEX recent_of_stamp ON recent (stamp_id);
CREATE TABLE segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    stamp_id INTEGER NOT NULL REFERENCES stamps (id),
    file TEXT NOT NULL UNIQUE,
    first_chunk INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    size INTEGER NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE dead (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    stamp_id INTEGER NOT NULL REFERENCES stamps (id),
    first_chunk INTEGER NOT NULL,
    last_chunk INTEGER NOT NULL
);
CREATE TABLE failures (
    stamp_id INTEGER NOT NULL REFERENCES stamps (id),
    name TEXT NOT NULL,
    reason TEXT NOT NULL,
    hint TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL,
    digest TEXT NOT NULL,
    extractor TEXT NOT NULL,
    PRIMARY KEY (stamp_id, name)
);
CREATE TABLE "values" (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
"""

SINCE_VERSION_2 = """
ALTER TABLE documents ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE documents ADD COLUMN dated TEXT NOT NULL DEFAULT ''"""
SINCE_VERSION_3 = "ALTER TABLE chunks ADD COLUMN own_words TEXT"


def execute_all(connection: sqlite3.Connection, script: str) -> None:
    """The statements of a script, in the transaction that is open: `executescript` would commit it."""
    for statement in script.split(";\n"):
        connection.execute(statement)


def make_current(connection: sqlite3.Connection, version: int) -> None:
    """Tables of this version from none, or from those of an earlier one; in the caller's transaction.

    Another process may have been faster: then there is nothing left to do.
    """
    if version == SCHEMA_VERSION:
        return
    if version == 0:
        execute_all(connection, TABLES)
    if version == 1:
        from ragchat.index.migration import convert_version_1

        convert_version_1(connection)
    if version == 2:
        execute_all(connection, SINCE_VERSION_2)
    if version in (2, 3):
        execute_all(connection, SINCE_VERSION_3)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
