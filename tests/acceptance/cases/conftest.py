"""A desk for the cases of tools like this one: notes, the command line in this process, a counting server.

The embedding model is the real one; its export is made once per machine and shared by all tests.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragchat.cli.program import run
from ragchat.paths import cache_dir
from tests.ollama_server import OllamaTestServer


@dataclass(frozen=True, slots=True)
class Said:
    """What one command line did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object it printed."""
        told = json.loads(self.out)
        assert isinstance(told, dict)
        return told


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder of notes, a server that counts, and `ragchat` at hand."""

    notes: Path
    server: OllamaTestServer
    capture: pytest.CaptureFixture[str]

    def write(self, notes: Mapping[str, str | bytes]) -> None:
        for name, content in notes.items():
            path = self.notes / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def ragchat(self, command: str, *arguments: str) -> Said:
        self.capture.readouterr()
        code = run([command, "-f", str(self.notes), *arguments])
        return Said(code, *self.capture.readouterr())

    def ask(self, question: str, *arguments: str) -> dict[str, Any]:
        said = self.ragchat("ask", "--json", *arguments, "--", question)
        assert said.code in (0, 1), said.err
        return said.json

    def search(self, question: str, *arguments: str) -> dict[str, Any]:
        said = self.ragchat("search", "--json", *arguments, "--", question)
        assert said.code in (0, 1), said.err
        return said.json

    @property
    def asked(self) -> int:
        """How many requests asked a model for words."""
        return self.server.count("/api/chat") + self.server.count("/api/generate")

    @property
    def prompt(self) -> str:
        """The last user message that a model got."""
        return str(self.server.received("/api/chat")[-1].body["messages"][-1]["content"])

    def prompt_sources(self) -> list[str]:
        """The sources in the last prompt, each with its file and section, in order."""
        framed = re.findall(
            r"^<<<source (\d+) (\w+)>>>\n(.*?)\n^<<<end of source \1 \2>>>$", self.prompt, re.M | re.S
        )
        assert [int(number) for number, _, _ in framed] == list(range(1, len(framed) + 1))
        return [body for _, _, body in framed]


@pytest.fixture
def server() -> Iterator[OllamaTestServer]:
    with OllamaTestServer(answer="So the notes say [1].") as server:
        yield server


@pytest.fixture
def desk(
    tmp_path: Path,
    server: OllamaTestServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    shared = str(cache_dir())
    for name in [name for name in os.environ if name.startswith(("RAGCHAT_", "OLLAMA_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RAGCHAT_CACHE_DIR", shared)
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("RAGCHAT_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    notes = tmp_path / "notes"
    notes.mkdir()
    return Desk(notes, server, capsys)
