"""The export takes a quarter of a minute: two processes race for it once, and every test reads the result."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.registry import open_embedder
from ragchat.settings import EmbeddingSettings

_RACER = """
import sys
from pathlib import Path
from ragchat.embedding.registry import open_embedder
from ragchat.settings import EmbeddingSettings

embedder = open_embedder(EmbeddingSettings(), ollama_host="", cache=Path(sys.argv[1]), notify=print)
assert abs(float(embedder.embed_question("ready") @ embedder.embed_question("ready")) - 1) < 1e-5
heavy = {"torch", "transformers", "sentence_transformers", "huggingface_hub", "ollama"}
print("heavy:", sorted(heavy & set(sys.modules)))
"""


@dataclass(frozen=True, slots=True)
class Race:
    """A cache folder that two processes found empty at the same time, and what each of them printed."""

    cache: Path
    outputs: tuple[str, ...]

    @property
    def model(self) -> Path:
        """The folder of the exported model."""
        (manifest,) = self.cache.glob("models/*/*-fp32-*/export.json")
        return manifest.parent


@pytest.fixture(scope="session")
def race(tmp_path_factory: pytest.TempPathFactory) -> Race:
    cache = tmp_path_factory.mktemp("cache")
    # The notes are the current folder, and one of them has an unlucky name.
    notes = tmp_path_factory.mktemp("notes")
    for name in ("torch", "numpy", "json"):
        (notes / f"{name}.py").write_text("raise SystemExit('a note was run as a program')\n")
    processes = [
        subprocess.Popen(
            [sys.executable, "-P", "-W", "error", "-c", _RACER, str(cache)],
            cwd=notes,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    outputs = tuple(process.communicate(timeout=240)[0] for process in processes)
    assert [process.returncode for process in processes] == [0, 0], outputs
    return Race(cache, outputs)


@pytest.fixture(scope="session")
def opened(race: Race) -> Callable[[EmbeddingSettings], OnnxEmbedder]:
    def open_with(settings: EmbeddingSettings) -> OnnxEmbedder:
        embedder = open_embedder(settings, ollama_host="", cache=race.cache)
        assert isinstance(embedder, OnnxEmbedder)
        # Once the weights are packed, every vector comes out to the last bit as the one before.
        embedder.embed_passages(["word " * 250] * 4)
        return embedder

    return open_with


@pytest.fixture(scope="session")
def embedder(opened: Callable[[EmbeddingSettings], OnnxEmbedder]) -> OnnxEmbedder:
    return opened(EmbeddingSettings())
