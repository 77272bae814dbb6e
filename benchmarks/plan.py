"""What a run is asked to do, and where it may write."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import Peers

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Plan:
    """The same for every subject.

    sizes: chunks of the synthetic indexes. files: notes of the synthetic folder. rounds: how often each
    contender is measured. work: scratch, deleted afterwards. cache: what is kept between runs (the exported
    model, the peers). kept: where filled indexes stay for later runs, None: nowhere. peers: None where they
    are not wanted.
    """

    sizes: tuple[int, ...]
    files: int
    rounds: int
    texts: int
    work: Path
    cache: Path
    kept: Path | None
    peers: Peers | None

    def environment(self, home: Path) -> dict[str, str]:
        """For a program that touches nothing of the user's own; `home` holds its data folder."""
        return {
            **_as_installed(os.environ),
            "HOME": str(home),
            "TERM": "xterm-256color",
            "COLUMNS": "120",
            "LINES": "36",
            "OLLAMA_HOST": "127.0.0.1:9",
            "RAGCHAT_DATA_DIR": str(home / "data"),
            "RAGCHAT_CONFIG_DIR": str(home / "config"),
            "RAGCHAT_CACHE_DIR": str(self.cache / "ragchat"),
        }


def _as_installed(environment: Mapping[str, str]) -> dict[str, str]:
    """What is installed is compiled; a start that compiles every module anew is nobody's."""
    return {name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"}
