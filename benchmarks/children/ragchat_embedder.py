"""ragchat's built-in embedder, as indexing uses it and with every core."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.children.serve import serve
from ragchat.answering.workspace import Workspace
from ragchat.embedding.embedder import Embedder
from ragchat.settings import Settings


class BuiltIn:
    """threads: as in the settings; 0 leaves a core to the screen."""

    def __init__(self) -> None:
        self._embedder: Embedder
        self._texts: list[str] = []

    def open(self, request: dict[str, Any]) -> dict[str, Any]:
        """Open the model, exported first where that was not done yet; count the texts' tokens."""
        settings = Settings()
        embedding = replace(settings.embedding, **request["settings"])
        self._embedder = Workspace(Path(), replace(settings, embedding=embedding)).embedder()
        self._texts = json.loads(Path(request["texts"]).read_text(encoding="utf-8"))
        return {"lengths": [self._embedder.count_tokens(text) for text in self._texts]}

    def passages(self, request: dict[str, Any]) -> None:
        """All texts."""
        self._embedder.embed_passages(self._texts)

    def question(self, request: dict[str, Any]) -> None:
        """One short text."""
        self._embedder.embed_question(request["question"])

    def save(self, request: dict[str, Any]) -> None:
        """Their vectors, for comparison."""
        np.save(request["path"], self._embedder.embed_passages(self._texts))


def main() -> None:
    """Serve until the parent has enough."""
    embedder = BuiltIn()
    serve(
        {
            "open": embedder.open,
            "passages": embedder.passages,
            "question": embedder.question,
            "save": embedder.save,
        }
    )


if __name__ == "__main__":
    main()
