"""What is known about files that are slow to read: their hashes, and facts found out once."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragchat.paths import make_private_dir


def sha256_of(file: Path) -> str:
    """The file's sha256, in hex. Raises OSError."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def remembered_hash(files: Sequence[Path], models: Path) -> str:
    """One sha256 over the files' contents, computed again only when path, size, time or inode has changed.

    One file gives its own hash; several give the hash of their hashes, in the order given. Raises OSError.
    """
    note = recall(files, models)
    known = note.get("sha256") if note else None
    if isinstance(known, str):
        return known
    hashes = [sha256_of(file) for file in files]
    found = hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
    remember(files, models, {"sha256": found})
    return found


def recall(files: Sequence[Path], models: Path) -> Mapping[str, object] | None:
    """What was remembered about exactly these files as they are now, None if nothing. Raises OSError."""
    try:
        note = json.loads(note_path(files, models).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return note if isinstance(note, dict) else None


def remember(files: Sequence[Path], models: Path, facts: Mapping[str, object]) -> None:
    """Keep facts about exactly these files as they are now. Raises OSError."""
    path = note_path(files, models)
    make_private_dir(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as note:
        json.dump(facts, note)
    Path(temporary).replace(path)


def note_path(files: Sequence[Path], models: Path) -> Path:
    """Where facts about exactly these files as they are now are kept. Raises OSError."""
    identity = hashlib.sha256()
    for file in files:
        stat = file.stat()
        identity.update(os.fsencode(file.resolve()))
        identity.update(f"|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}\n".encode())
    return models / "known" / f"{identity.hexdigest()[:32]}.json"
