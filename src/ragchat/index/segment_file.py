"""One immutable file of named arrays, written from front to back and read by mapping it into memory.

The arrays follow each other, each on a multiple of 64 bytes; behind them stands a table of contents (JSON),
and at the very end its length and a mark: a file that was cut short has no mark. Files are written with
ordinary writes, because a full disk under a mapping kills the process, and are synced before anybody is told
of them.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ragchat.errors import IndexCorrupt, StorageFailed
from ragchat.paths import make_private_dir

Array = npt.NDArray[Any]

_MARK = b"ragchat segment\x01"
_TAIL = struct.Struct("<Q16s")
_ALIGNMENT = 64
_BLOCK_BYTES = 1 << 22
_REBUILD = "ragchat index --rebuild"


@dataclass(frozen=True, slots=True)
class Written:
    """What a reader must find: the file's length in bytes and the CRC-32 of all of them."""

    size: int
    checksum: int


class SegmentWriter:
    """Writes one file; leaves none behind when anything goes wrong inside its `with`.

    Raises StorageFailed (disk full, folder read-only).
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._contents: dict[str, object] = {}
        self._size = self._checksum = 0

    def __enter__(self) -> SegmentWriter:
        try:
            make_private_dir(self._path.parent)
            self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        except OSError as error:
            raise storage_failed(error, self._path.parent) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.close(self._file)
        if error is not None:
            self._path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise storage_failed(error, self._path.parent) from error

    def add(self, name: str, array: Array) -> None:
        """Append one array."""
        self.add_blocks(name, array.dtype, array.shape[1:], [array])

    def add_blocks(
        self, name: str, dtype: npt.DTypeLike, row_shape: tuple[int, ...], blocks: Iterable[Array]
    ) -> None:
        """Append one array given as consecutive blocks of its rows."""
        self._write(b"\0" * (-self._size % _ALIGNMENT))
        start, rows = self._size, 0
        for block in blocks:
            self._write(np.ascontiguousarray(block, dtype=dtype).reshape(-1).view(np.uint8).data)
            rows += len(block)
        self._contents[name] = [np.dtype(dtype).str, [rows, *row_shape], start]

    def finish(self, facts: Mapping[str, float]) -> Written:
        """Close the table of contents with these numbers, and wait until the disk has everything."""
        table = json.dumps({"arrays": self._contents, "facts": dict(facts)}).encode()
        self._write(table + _TAIL.pack(len(table), _MARK))
        os.fsync(self._file)
        sync_folder(self._path.parent)
        return Written(self._size, self._checksum)

    def _write(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        for start in range(0, len(view), _BLOCK_BYTES):
            block = view[start : start + _BLOCK_BYTES]
            while block:
                block = block[os.write(self._file, block) :]
        self._size += len(view)
        self._checksum = zlib.crc32(view, self._checksum)


def read_segment_file(path: Path, size: int) -> tuple[dict[str, Array], dict[str, float]]:
    """The arrays, mapped and read-only, and the numbers kept with them. Reads nothing but the table.

    Raises FileNotFoundError, IndexCorrupt for a file of another length or without its mark, StorageFailed.
    """
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size != size:
                raise _damaged(path, "its length is not what was written")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise StorageFailed(f"{path} cannot be read: {error}", hint="ragchat doctor") from error
    try:
        length, mark = _TAIL.unpack(mapped[-_TAIL.size :])
    except struct.error as error:
        raise _damaged(path, str(error)) from error
    if mark != _MARK:
        raise _damaged(path, "its end is not what was written")
    try:
        table = json.loads(mapped[size - _TAIL.size - length : size - _TAIL.size])
        arrays: dict[str, Array] = {
            name: np.ndarray(shape, dtype, mapped, start)
            for name, (dtype, shape, start) in table["arrays"].items()
        }
        return arrays, table["facts"]
    except (ValueError, TypeError, KeyError) as error:
        raise _damaged(path, str(error)) from error


def verify_segment_file(path: Path, written: Written) -> None:
    """Read the whole file. Raises IndexCorrupt unless it is what was written."""
    checksum = size = 0
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                checksum = zlib.crc32(block, checksum)
                size += len(block)
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from error
    if (size, checksum) != (written.size, written.checksum):
        raise _damaged(path, "its bytes are not what was written")


def sync_folder(folder: Path) -> None:
    """Wait until the disk knows the folder's names. Windows keeps them by itself and opens no folder."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def storage_failed(error: OSError, folder: Path) -> StorageFailed:
    """What the user is told when a file of the index cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFailed(
            f"no space is left for the index in {folder}",
            hint="free some space, then run ragchat index: what was done is kept",
        )
    return StorageFailed(
        f"the index cannot be written to {folder}: {error.strerror or error}",
        hint="make that folder writable, or set RAGCHAT_DATA_DIR to one that is",
    )


def _damaged(path: Path, why: str) -> IndexCorrupt:
    return IndexCorrupt(f"the index {path} is damaged: {why}", hint=_REBUILD)


_BINARY = getattr(os, "O_BINARY", 0)
