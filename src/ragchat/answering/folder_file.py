"""What is remembered of a notes folder beside its index: its path, and the model chosen for it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ragchat.errors import StorageFailed
from ragchat.paths import make_private_dir

FOLDER_FILE = "folder.json"


@dataclass(frozen=True, slots=True)
class FolderFile:
    """path: the real path of the notes. model: "" while none was chosen."""

    path: str
    model: str = ""


def read_folder_file(data_dir: Path) -> FolderFile | None:
    """What was remembered; None where nothing was, or the file is damaged."""
    try:
        kept = json.loads((data_dir / FOLDER_FILE).read_text(encoding="utf-8"))
        return FolderFile(str(kept["path"]), str(kept.get("model", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def remember_folder(data_dir: Path, folder: Path, *, model: str | None = None) -> None:
    """Write the folder's real path, and the model where one is given. Raises StorageFailed."""
    before = read_folder_file(data_dir) or FolderFile("")
    now = replace(before, path=str(folder.resolve()), model=before.model if model is None else model)
    if now == before:
        return
    target = data_dir / FOLDER_FILE
    partial = target.with_suffix(f".{os.getpid()}.part")
    try:
        make_private_dir(data_dir)
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(now), file)
        partial.replace(target)
    except OSError as error:
        raise StorageFailed(
            f"{target} cannot be written: {error.strerror}",
            hint="make that folder writable, or set RAGCHAT_DATA_DIR to one that is",
        ) from error
