"""Other libraries in an environment of their own, made once in the cache; the project depends on none."""

from __future__ import annotations

import subprocess
import sys
import venv
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = {
    "rank-bm25": "rank-bm25==0.2.2",
    "bm25s": "bm25s==0.3.16",
    "tantivy": "tantivy==0.27.0",
    "usearch": "usearch==2.26.6",
    "chromadb": "chromadb==1.5.9",
    "local-semantic-search": "local-semantic-search==0.5.7",
}


@dataclass(frozen=True, slots=True)
class Peers:
    """The environment's Python, and why some peers are not in it."""

    python: Path
    missing: dict[str, str] = field(default_factory=dict)

    def __contains__(self, name: object) -> bool:
        return name in PACKAGES and name not in self.missing


def install(cache: Path) -> Peers:
    """The environment with whatever of the peers installs; nothing is done for what is there already."""
    home = cache / "peers"
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    missing = {}
    for name, requirement in PACKAGES.items():
        if not _is_installed(python, requirement):
            told = subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet", requirement],
                capture_output=True,
                text=True,
                check=False,
            )
            if told.returncode:
                missing[name] = (told.stderr.strip().splitlines() or ["pip failed"])[-1]
                print(f"peer {name} is left out: {missing[name]}", file=sys.stderr)
    return Peers(python, missing)


def _is_installed(python: Path, requirement: str) -> bool:
    name, _, wanted = requirement.partition("==")
    code = f"from importlib.metadata import version; raise SystemExit(version({name!r}) != {wanted!r})"
    return subprocess.run([str(python), "-c", code], capture_output=True, check=False).returncode == 0
