"""The SQLite file of one index: its tables, how it is opened, and what its errors mean to the user.

A write-ahead log lets readers in other threads and processes go on while one writes, and a process killed in
the middle of a transaction leaves the state before it. `application_id` tells our files from foreign ones,
`user_version` is the version of this schema.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragchat.errors import IndexCorrupt, IndexLocked, RagchatError, StorageFailed
from ragchat.paths import make_private_dir

INDEX_FILE = "index.sqlite3"
SEGMENTS_DIR = "segments"
DAMAGED_DIR = "damaged"
SCHEMA_VERSION = 4
BUSY_SECONDS = 10.0

_APPLICATION_ID = 0x52414743  # "RAGC"

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

_SINCE_VERSION_2 = """
ALTER TABLE documents ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE documents ADD COLUMN dated TEXT NOT NULL DEFAULT ''"""
_SINCE_VERSION_3 = "ALTER TABLE chunks ADD COLUMN own_words TEXT"

_LOG_BYTES = 4 << 20
"""A log that has grown over this is cut back when it begins anew."""
_REBUILD = "ragchat index --rebuild"


def open_database(data_dir: Path) -> sqlite3.Connection:
    """Open the index file in this folder, or make one, private to the user.

    The connection may be used from any thread, by one at a time. Raises IndexCorrupt, IndexLocked,
    StorageFailed.
    """
    path = data_dir / INDEX_FILE
    with explained(path):
        connection = _connect(path)
        try:
            _prepare(connection, path)
        except BaseException:
            connection.close()
            raise
    return connection


def connect(path: Path) -> sqlite3.Connection:
    """A further connection to a file that `open_database` has opened, to read from. Raises StorageFailed."""
    with explained(path):
        if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
            return _connect_to(path)
        return _connect_read_only(path)


def _connect(path: Path) -> sqlite3.Connection:
    try:
        make_private_dir(path.parent)
        _create(path)
    except OSError as error:
        if not path.is_file():
            raise StorageFailed(
                f"the index cannot be written to {path.parent}: {error.strerror}",
                hint="make that folder writable, or set RAGCHAT_DATA_DIR to one that is",
            ) from error
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return _connect_read_only(path)
    return _connect_to(path)


def _connect_to(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def _create(path: Path) -> None:
    """An empty file, private to the user: SQLite gives its -wal and -shm files the same permissions.

    One that is there must be opened by SQLite alone: closing any descriptor of a file takes from this process
    all its POSIX locks on it, also those of a connection that is writing. Another program would then delete
    the log below it (https://sqlite.org/howtocorrupt.html, 2.2).
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _connect_read_only(path: Path) -> sqlite3.Connection:
    """A file that may be read but not written; without a log beside it, it needs no lock either."""
    log = path.with_name(path.name + "-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?{mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA query_only = ON")
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    with transaction(connection, "DEFERRED"):
        version = _read_version(connection, path)
    if version > SCHEMA_VERSION:
        raise IndexCorrupt(
            f"{path} was written by a newer ragchat (schema {version}, this one knows {SCHEMA_VERSION})",
            hint=f"upgrade ragchat, or make the index again with {_REBUILD}",
        )
    if version == SCHEMA_VERSION and _read_only(connection):
        return
    if _read_only(connection):
        raise StorageFailed(
            f"{path} has an older form and cannot be converted where it may not be written",
            hint="make its folder writable, or set RAGCHAT_DATA_DIR to one that is",
        )
    if version == 0:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before anything is written, or never
    _keep_a_log(connection)
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")
    connection.execute("PRAGMA synchronous = NORMAL")
    if version < SCHEMA_VERSION:
        connection.execute("PRAGMA foreign_keys = OFF")
        with transaction(connection):
            _make_current(connection, _read_version(connection, path))
        connection.execute("PRAGMA foreign_keys = ON")


def _make_current(connection: sqlite3.Connection, version: int) -> None:
    """Another process may have been faster: then there is nothing left to do."""
    if version == SCHEMA_VERSION:
        return
    if version == 1:
        from ragchat.index.migration import convert_version_1

        convert_version_1(connection)
    elif version in (2, 3):
        if version == 2:
            execute_all(connection, _SINCE_VERSION_2)
        execute_all(connection, _SINCE_VERSION_3)
    else:
        execute_all(connection, TABLES)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def execute_all(connection: sqlite3.Connection, script: str) -> None:
    """The statements of a script, in the transaction that is open: `executescript` would commit it."""
    for statement in script.split(";\n"):
        connection.execute(statement)


def _keep_a_log(connection: sqlite3.Connection) -> None:
    """SQLite itself does not wait for this when several make the same file at once."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _read_version(connection: sqlite3.Connection, path: Path) -> int:
    """0 for an empty file; a file that is not ours is refused. In a transaction: another may be making it."""
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    tables: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if application != _APPLICATION_ID and (application or tables):
        raise IndexCorrupt(f"{path} is no ragchat index", hint=_REBUILD)
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _read_only(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA query_only").fetchone()[0])


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """All of it or nothing. IMMEDIATE for writing; DEFERRED for several reads of one state.

    DURABLE writes, and waits until the disk has it: otherwise the last few transactions may be lost with the
    power, though none by half.
    """
    durable = kind == "DURABLE"
    if durable:
        connection.execute("PRAGMA synchronous = FULL")
    try:
        connection.execute("BEGIN IMMEDIATE" if durable else f"BEGIN {kind}")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    finally:
        if durable:
            connection.execute("PRAGMA synchronous = NORMAL")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, each with the next thing to do."""
    try:
        yield
    except sqlite3.Error as error:
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError):
            raise  # ours to mend, not the user's
        raise _explanation(error, path) from error


def _explanation(error: sqlite3.Error, path: Path) -> RagchatError:
    match getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF:  # the primary code
        case sqlite3.SQLITE_FULL:
            return StorageFailed(
                f"no space is left for the index in {path.parent}",
                hint="free some space, then run ragchat index: what was done is kept",
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM | sqlite3.SQLITE_IOERR:
            return StorageFailed(
                f"the index cannot be read or written in {path.parent}: {error}",
                hint="check that folder and its disk, or set RAGCHAT_DATA_DIR to another one",
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return IndexLocked(
                f"another program holds the index in {path.parent}", hint="wait for it to end, then try again"
            )
        case _:
            return IndexCorrupt(f"the index {path} is damaged: {error}", hint=_REBUILD)


def remove_database(data_dir: Path) -> None:
    """Delete the index with all its files. Raises StorageFailed."""
    for path in [*_files(data_dir), data_dir / DAMAGED_DIR]:
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise StorageFailed(f"{path} cannot be deleted: {error.strerror}") from error


def put_aside(data_dir: Path) -> None:
    """Move the index's files into a folder beside them, in place of what was put there before.

    Raises StorageFailed.
    """
    aside = data_dir / DAMAGED_DIR
    try:
        if aside.exists():
            shutil.rmtree(aside)
        make_private_dir(aside)
        for path in _files(data_dir):
            if path.exists():
                path.rename(aside / path.name)
    except OSError as error:
        raise StorageFailed(f"{data_dir} cannot be written to: {error.strerror}") from error


def _files(data_dir: Path) -> list[Path]:
    names = [INDEX_FILE, f"{INDEX_FILE}-wal", f"{INDEX_FILE}-shm", SEGMENTS_DIR]
    return [data_dir / name for name in names]
