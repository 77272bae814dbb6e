"""What SQLite's errors mean to the user, each with the next thing to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragchat.errors import IndexCorrupt, IndexLocked, RagchatError, StorageFailed
from ragchat.index.queries import REBUILD


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
            return IndexCorrupt(f"the index {path} is damaged: {error}", hint=REBUILD)
