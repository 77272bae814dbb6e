"""Where everything lies: never in the notes, private to the user.

The data folder holds one folder per notes folder, named after the hash of its real path:

    <data>/folders/<hash>/index.sqlite3      the index
    <data>/folders/<hash>/segments/          its vectors and words
    <data>/folders/<hash>/conversation.jsonl the first conversation; others lie in conversations/
    <data>/folders/<hash>/questions.jsonl    the questions collected for `ragchat eval`
    <data>/folders/<hash>/folder.json        the path it stands for, the remembered model
    <cache>/models/<hash of weights>/        the exported embedding model
    <config>/config.toml, <config>/themes/   the user's own

`RAGCHAT_DATA_DIR`, `RAGCHAT_CACHE_DIR` and `RAGCHAT_CONFIG_DIR` move them.
"""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

_HERE = Path(__file__).resolve().parent


def _located(variable: str, default: Path) -> Path:
    moved = os.environ.get(variable)
    return Path(moved).expanduser() if moved else default


def data_dir() -> Path:
    """Indexes and conversations."""
    return _located("RAGCHAT_DATA_DIR", platformdirs.user_data_path("ragchat", appauthor=False))


def cache_dir() -> Path:
    """What can be made again: exported models."""
    return _located("RAGCHAT_CACHE_DIR", platformdirs.user_cache_path("ragchat", appauthor=False))


def config_dir() -> Path:
    """The user's settings and themes."""
    return _located("RAGCHAT_CONFIG_DIR", platformdirs.user_config_path("ragchat", appauthor=False))


def folder_data_dir(folder: Path) -> Path:
    """Where the index and the conversation of one notes folder lie."""
    import hashlib  # not for the first frame, which asks for none

    name = os.fsencode(folder.resolve())
    return data_dir() / "folders" / hashlib.sha256(name).hexdigest()[:24]


def own_dirs(below: Path) -> list[Path]:
    """What is no note below this folder: an answer kept in a conversation proves nothing.

    Where it is itself one of ours, what we keep in it is no note either. below: a real path.
    """
    data, cache = data_dir(), cache_dir()
    ours = [path.resolve() for path in (data, data / "folders", cache, cache / "models", config_dir())]
    return [path for path in ours if path != below and path.is_relative_to(below)]


def bundled_themes_dir() -> Path:
    """The themes that come with ragchat: in the wheel, or beside src/ in a checkout."""
    shipped = _HERE / "themes"
    return shipped if shipped.is_dir() else _HERE.parent.parent / "themes"


def sample_notes_dir() -> Path:
    """The notes that `ragchat demo` reads."""
    return _HERE / "data" / "sample_notes"


def off_topic_questions_path() -> Path:
    """The questions that calibrate the automatic threshold, one a line."""
    return _HERE / "data" / "off_topic_questions.txt"


def gate_path() -> Path:
    """The weights of the gate's signals, with where they come from."""
    return _HERE / "data" / "gate.toml"


def make_private_dir(path: Path) -> Path:
    """Create the folder (and its parents) readable by the user alone; return it."""
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.chmod(0o700)
    return path
