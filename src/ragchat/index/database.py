"""The SQLite file of one index: how it is opened, brought to this version, and written in transactions.

A write-ahead log lets readers in other threads and processes go on while one writes, and a process killed in
the middle of a transaction leaves the state before it. `application_id` tells our files from foreign ones,
`user_version` is the version of this schema.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragchat.errors import IndexCorrupt, StorageFailed
from ragchat.index.files import INDEX_FILE
from ragchat.index.queries import REBUILD
from ragchat.index.sqlite_errors import explained
from ragchat.index.tables import SCHEMA_VERSION, make_current
from ragchat.paths import make_private_dir

BUSY_SECONDS = 10.0

_APPLICATION_ID = 0x52414743  # "RAGC"

_LOG_BYTES = 4 << 20
"""A log that has grown over this is cut back when it begins anew."""


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
            hint=f"upgrade ragchat, or make the index again with {REBUILD}",
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
            make_current(connection, _read_version(connection, path))
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute("PRAGMA foreign_keys = ON")


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
        raise IndexCorrupt(f"{path} is no ragchat index", hint=REBUILD)
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
