"""The command line in this process, on an embedder without a model and folders of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragchat.cli.program import run
from ragchat.embedding import registry
from tests.doubles import WordEmbedder
from tests.ollama_server import OllamaTestServer

LEASE = "# Lease\n\n## Term\n\nThe lease ends on 31 March 2027.\n\n## Rent\n\nThe rent is 1,140 a month.\n"
BOILER = "# Boiler\n\nError E1187 means that the water pressure is low.\n"


@dataclass(frozen=True, slots=True)
class Ran:
    """What one command line did."""

    code: int
    out: str
    err: str


Ragchat = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("RAGCHAT_", "OLLAMA_"))]:
        monkeypatch.delenv(name)
    for kind in ("data", "cache", "config"):
        monkeypatch.setenv(f"RAGCHAT_{kind.upper()}_DIR", str(tmp_path / kind))
    monkeypatch.setenv("RAGCHAT_OLLAMA_HOST", "http://127.0.0.1:9")  # nothing listens on "discard"


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> WordEmbedder:
    words = WordEmbedder()
    monkeypatch.setattr(registry, "open_embedder", lambda *args, **kwargs: words)
    monkeypatch.setattr(registry, "expected_stamp", lambda *args, **kwargs: words.stamp)
    return words


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    for name, text in {"house/lease.md": LEASE, "house/boiler.md": BOILER}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def ragchat(
    embedder: WordEmbedder, notes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ragchat:
    """`ragchat("ask", "…")` in the folder of notes."""
    monkeypatch.chdir(notes)

    def ragchat(*arguments: str) -> Ran:
        capsys.readouterr()
        code = run(arguments)
        return Ran(code, *capsys.readouterr())

    return ragchat


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OllamaTestServer]:
    with OllamaTestServer(answer="It ends on 31 March 2027 [1].") as server:
        monkeypatch.setenv("RAGCHAT_OLLAMA_HOST", server.url)
        yield server
