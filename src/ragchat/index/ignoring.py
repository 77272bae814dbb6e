"""Let a document be passed over: a line in the folder's `.ragchatignore`, which can be taken out again."""

from __future__ import annotations

import re
from pathlib import Path

from ragchat.errors import StorageFailed, UsageError

IGNORE_FILE = ".ragchatignore"
_SPECIAL = re.compile(r"([\\*?\[\]])")


def pattern_for(name: str) -> str:
    """The line that ignores this document and no other. Raises UsageError for a name no line can hold."""
    if "\n" in name or "\r" in name:
        raise UsageError(
            f"{name!r} holds a line break, which no ignore file can name", hint="rename the file"
        )
    escaped = _SPECIAL.sub(r"\\\1", name)
    if escaped.endswith(" "):
        escaped = f"{escaped[:-1]}\\ "
    return f"/{escaped}"


def ignore(folder: Path, name: str) -> bool:
    """Write the line; False where it stood there already. Raises UsageError, StorageFailed."""
    path, line = folder / IGNORE_FILE, pattern_for(name).encode()
    try:
        before = path.read_bytes() if path.exists() else b""
        if line in before.splitlines():
            return False
        break_ = b"" if not before or before.endswith(b"\n") else b"\n"
        with path.open("ab") as file:
            file.write(break_ + line + b"\n")
    except OSError as error:
        raise _not_written(path, error) from error
    return True


def unignore(folder: Path, name: str) -> bool:
    """Take the line out again, and a file that is empty then; whether it was there. Raises StorageFailed."""
    path, line = folder / IGNORE_FILE, pattern_for(name).encode()
    try:
        if not path.exists():
            return False
        before = path.read_bytes()
        lines = before.splitlines(keepends=True)
        kept = b"".join(each for each in lines if each.rstrip(b"\r\n") != line)
        if kept == before:
            return False
        if kept:
            path.write_bytes(kept)
        else:
            path.unlink()
    except OSError as error:
        raise _not_written(path, error) from error
    return True


def _not_written(path: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"{path} cannot be written: {error.strerror or error}",
        hint="exclude the document in the settings: notes.exclude",
    )
