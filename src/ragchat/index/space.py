"""What an index takes of the disk, and how it gives back what it no longer needs.

Vectors stand in a table before a segment file has them. SQLite keeps the pages that become free then; it is
told to cut the file off behind those in use, a little at a time, so that nobody waits long for the file, and
whatever ends this in the middle leaves a whole index.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from ragchat.index.database import BUSY_SECONDS
from ragchat.index.files import DAMAGED_DIR, INDEX_FILE, SEGMENTS_DIR

INCREMENTAL = 2
"""The `auto_vacuum` of a file that can be cut off: each page's owner is noted (one page in 800 more)."""

_STEP_PAGES = 1024
"""4 MB in a transaction: some hundredths of a second."""
_KEPT_PAGES = 512
"""2 MB stay, because the next edits need them again."""
_REWRITTEN_PAGES = 65_536
"""A file of an earlier ragchat is written anew where at most 256 MB of it are in use: about a second."""


def give_back(connection: sqlite3.Connection) -> None:
    """Cut the file to what it holds, and empty its log. Called by the only writer, outside a transaction.

    What cannot be done now (a full disk, a reader of an older state) is done another time.
    """
    with suppress(sqlite3.OperationalError):
        _make_cuttable(connection)
        while (free := _number(connection, "freelist_count")) > _KEPT_PAGES:
            # `execute` would stop after one page: only a script is run to its end.
            connection.executescript(f"PRAGMA incremental_vacuum({min(_STEP_PAGES, free - _KEPT_PAGES)})")
            if _number(connection, "freelist_count") == free:
                break
    _empty_log(connection)


def bytes_on_disk(data_dir: Path) -> int:
    """What the index in this folder takes, with its log, its segments and what was put aside."""
    files = [*data_dir.glob(f"{INDEX_FILE}*")]
    files += [path for folder in (SEGMENTS_DIR, DAMAGED_DIR) for path in (data_dir / folder).rglob("*")]
    total = 0
    for path in files:
        with suppress(OSError):  # merged away meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total


def _make_cuttable(connection: sqlite3.Connection) -> None:
    """Once, for a file that an earlier ragchat made and that is mostly empty; readers go on meanwhile."""
    if _number(connection, "auto_vacuum") == INCREMENTAL:
        return
    free = _number(connection, "freelist_count")
    used = _number(connection, "page_count") - free
    if free > max(used, _KEPT_PAGES) and used <= _REWRITTEN_PAGES:
        connection.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
        connection.execute("VACUUM")


def _empty_log(connection: sqlite3.Connection) -> None:
    """As far as nobody reads an older state from it; they are not waited for."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
