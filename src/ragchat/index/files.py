"""The files of one index, as a whole: their names, how they are deleted and how they are put aside."""

from __future__ import annotations

import shutil
from pathlib import Path

from ragchat.errors import StorageFailed
from ragchat.paths import make_private_dir

INDEX_FILE = "index.sqlite3"
SEGMENTS_DIR = "segments"
DAMAGED_DIR = "damaged"


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
