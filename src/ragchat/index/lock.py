"""One writer for an index among all processes; the lock falls when its process dies, however it dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragchat.errors import IndexLocked, StorageFailed
from ragchat.paths import make_private_dir

LOCK_FILE = "index.lock"

if sys.platform == "win32":
    import msvcrt

    def _try_lock(descriptor: int) -> None:
        # Locks are mandatory there: lock a byte far behind the text, so that others can read who it is.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _try_lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def writer_lock(data_dir: Path) -> Iterator[None]:
    """Be the only writer while inside. Raises IndexLocked, without waiting, and StorageFailed."""
    descriptor = -1
    try:
        make_private_dir(data_dir)
        descriptor = os.open(data_dir / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
        _try_lock(descriptor)
    except OSError as error:
        holder = ""
        if descriptor >= 0:
            holder = os.read(descriptor, 20).decode("ascii", "replace").strip()
            os.close(descriptor)
        if descriptor >= 0 and isinstance(error, BlockingIOError | PermissionError):
            raise IndexLocked(
                f"another ragchat{f' (process {holder})' if holder else ''} is updating this index",
                hint="wait until it is done, or stop it; what it has done is kept",
            ) from error
        raise StorageFailed(
            f"the index cannot be written to {data_dir}: {error.strerror}",
            hint="make that folder writable, or set RAGCHAT_DATA_DIR to one that is",
        ) from error
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
        os.truncate(descriptor, 0)
    finally:
        os.close(descriptor)
