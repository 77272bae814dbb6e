"""Tell when the notes of a folder have changed and come to rest.

An editor writes in pieces, beside the file, or by renaming; so a change counts when size and time of what
moved stand still. Where the system cannot tell of changes, the folder is looked through again and again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from ragchat.errors import FolderMissing
from ragchat.index.ignore import IGNORE_FILES
from ragchat.index.scan import is_temporary, scan
from ragchat.paths import own_dirs
from ragchat.settings import NotesSettings

REST_SECONDS = 0.25
"""What has not changed for so long is at rest."""
LONGEST_UNREST_SECONDS = 5.0
"""A file that is written all the time is read as it is after so long."""
_LOOK_AGAIN_SECONDS = 1.0
_SHARE_OF_TIME = 0.05
"""At most so much of one core goes into looking through a folder that cannot be watched."""
_REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "ncpfs", "vboxsf", "virtiofs"}
)
"""File systems on which another machine's changes are not told."""
_MOUNTS = Path("/proc/self/mounts")

Supported = Callable[[str], bool]
Facts = tuple[int, int, int] | None


def watch_folder(
    folder: Path,
    notes: NotesSettings,
    supported: Supported,
    stop: threading.Event,
    *,
    on_stir: Callable[[], None],
    on_change: Callable[[], None],
    on_poll: Callable[[str], None],
) -> None:
    """Watch until `stop` is set. All listeners are called in this thread.

    on_stir: something moved. on_change: and is at rest now: bring the index up to date. on_poll: told once,
    with the reason, where the folder must be looked through again and again; on_stir is then not called.
    """
    reason = remote_file_system(folder)
    while not reason and not stop.is_set():
        try:
            _watch(folder, supported, stop, on_stir, on_change)
        except (OSError, RuntimeError) as error:
            if folder.is_dir():
                reason = _why(error)
        if not stop.is_set() and not reason:
            # The folder itself went away or was put in place of another: begin anew when it is there.
            on_stir()
            on_change()
            while not folder.is_dir() and not stop.wait(_LOOK_AGAIN_SECONDS):
                pass
            if not stop.is_set():
                on_change()
    if reason and not stop.is_set():
        on_poll(reason)
        _look_again_and_again(folder, notes, supported, stop, on_change)


def remote_file_system(folder: Path, mounts: Path = _MOUNTS) -> str:
    """Why changes in this folder may not be told, or ""."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    place = os.path.realpath(folder)
    best, kind = "", ""
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        at = fields[1].replace("\\040", " ")
        if (place == at or place.startswith(at.rstrip("/") + "/")) and len(at) >= len(best):
            best, kind = at, fields[2]
    if kind in _REMOTE or kind.startswith("fuse."):
        return f"it lies on {kind}, which may not tell of changes"
    return ""


def _why(error: Exception) -> str:
    if "limit" in str(error) or getattr(error, "errno", None) == 28 or "os error 28" in str(error):
        return "the system watches no more folders (fs.inotify.max_user_watches)"
    return f"it cannot be watched ({' '.join(str(error).split())[:120]})"


def _watch(
    folder: Path,
    supported: Supported,
    stop: threading.Event,
    on_stir: Callable[[], None],
    on_change: Callable[[], None],
) -> None:
    """Returns when stopped, or when the folder is no longer the one that was watched."""
    import watchfiles

    root = os.path.realpath(folder)
    which = _identity(root)
    ours = tuple(f"{path}{os.sep}" for path in own_dirs(Path(root)))
    for changes in watchfiles.watch(
        root,
        watch_filter=None,
        debounce=200,
        step=50,
        stop_event=stop,
        rust_timeout=1_000,
        yield_on_timeout=True,
        raise_interrupt=False,
        ignore_permission_denied=True,
    ):
        if _identity(root) != which:
            return
        moved = {
            path
            for _, path in changes
            if _matters(root, path, supported) and not f"{path}{os.sep}".startswith(ours)
        }
        if moved:
            on_stir()
            wait_for_rest(moved, stop)
            on_change()


def wait_for_rest(paths: Iterable[str], stop: threading.Event) -> None:
    """Wait until none of these files has changed for a while; not for ever."""
    deadline = time.monotonic() + LONGEST_UNREST_SECONDS
    before: list[Facts] | None = None
    while not stop.is_set() and time.monotonic() < deadline:
        now = [_facts(path) for path in paths]
        if now == before:
            return
        before = now
        stop.wait(REST_SECONDS)


def _look_again_and_again(
    folder: Path,
    notes: NotesSettings,
    supported: Supported,
    stop: threading.Event,
    on_change: Callable[[], None],
) -> None:
    def look() -> list[tuple[str, int, int]] | None:
        try:
            found = scan(folder, notes, supported)
        except FolderMissing:
            return None
        return [(note.name, note.size, note.modified_ns) for note in found.notes]

    known, pause = look(), _LOOK_AGAIN_SECONDS
    while not stop.wait(pause):
        started = time.monotonic()
        now = look()
        pause = max(_LOOK_AGAIN_SECONDS, (time.monotonic() - started) / _SHARE_OF_TIME)
        if now == known:
            continue
        deadline = started + LONGEST_UNREST_SECONDS
        while (seen := now) != known and time.monotonic() < deadline and not stop.wait(REST_SECONDS):
            if (now := look()) == seen:
                break
        known = now
        on_change()


def _matters(root: str, path: str, supported: Supported) -> bool:
    """Whether a note may have changed; hidden files and those of other kinds are none."""
    parts = Path(os.path.relpath(path, root)).parts
    if parts[-1] in IGNORE_FILES:
        return not any(part.startswith(".") for part in parts[:-1])
    if any(part.startswith(".") for part in parts if part != "."):
        return False
    if is_temporary(parts[-1]):
        return False
    # What is gone may have been a folder, whatever its name.
    return supported(parts[-1]) or not Path(path).is_file()


def _facts(path: str) -> Facts:
    try:
        status = Path(path).stat(follow_symlinks=False)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
