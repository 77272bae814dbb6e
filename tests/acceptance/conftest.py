"""The installed program as its user runs it: other processes, a real terminal, a server that counts."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.terminal import Terminal
from tests.ollama_server import OllamaTestServer

PROGRAM = Path(sys.executable).parent / "ragchat"

NOTES = {
    "house/lease.md": "# Lease\n\n## Term\n\nThe lease of the flat ends on 31 March 2027.\n\n"
    "## Rent\n\nThe rent is 1,140 a month, due on the third working day.\n",
    "house/boiler.md": "# Boiler\n\nError E1187 means that the water pressure of the boiler is too low.\n",
    "garden/tomatoes.md": "# Tomatoes\n\nTomatoes are sown indoors in the second week of March.\n",
    "テスト.md": "# 鍵\n\n合鍵は隣の田中さんに預けてあります。\n",
}
LEASE = "When does the lease of the flat end?"
SKY = "Why is the sky blue?"
ANSWER = "The lease ends on 31 March 2027 [1]."


@dataclass
class Program:
    """`ragchat` with folders of its own; everything the environment says can be changed."""

    notes: Path
    environ: dict[str, str] = field(default_factory=dict)

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[bytes]:
        """Run it beside the test; its streams are pipes."""
        pipes: dict[str, object] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
            [str(PROGRAM), *arguments], cwd=self.notes, env=self.environ, **{**pipes, **options}
        )

    def run(
        self, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(
            [str(PROGRAM), *arguments],
            cwd=self.notes,
            env={**self.environ, **(environ or {})},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )

    def on_terminal(self, *arguments: str, columns: int = 120, rows: int = 36) -> Terminal:
        """Run it in a terminal."""
        return Terminal([str(PROGRAM), *arguments], self.notes, self.environ, columns, rows)


@pytest.fixture
def server() -> Iterator[OllamaTestServer]:
    with OllamaTestServer(answer=ANSWER) as server:
        yield server


@pytest.fixture
def program(tmp_path: Path, server: OllamaTestServer) -> Program:
    """On four notes, with the counting server and an empty home; the prepared model alone is shared."""
    from ragchat.paths import cache_dir

    notes = tmp_path / "notes"
    for name, text in NOTES.items():
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text(text, encoding="utf-8")
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    environ = {
        **kept,
        "HOME": str(tmp_path / "home"),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        "RAGCHAT_CACHE_DIR": str(cache_dir()),
        "OLLAMA_HOST": server.url,
    }
    return Program(notes, environ)
