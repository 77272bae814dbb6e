"""bm25s with this project's constants and idf (its method "lucene"), no stopwords, no stemming."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bm25s

from benchmarks.children.serve import serve

_LIMIT = 40


class Sparse:
    """One index in memory."""

    def __init__(self) -> None:
        self._index: Any
        self._questions: list[str] = []

    def build(self, request: dict[str, Any]) -> None:
        """From the texts."""
        texts = Path(request["texts"]).read_text(encoding="utf-8").splitlines()
        tokens = bm25s.tokenize(texts, stopwords=None, token_pattern=r"\S+", show_progress=False)
        self._index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self._index.index(tokens, show_progress=False)
        self._questions = json.loads(Path(request["questions"]).read_text(encoding="utf-8"))

    def query(self, request: dict[str, Any]) -> None:
        """The best for one question."""
        question = self._questions[request["round"] % len(self._questions)]
        self._index.retrieve([question.split()], k=_LIMIT, show_progress=False)


if __name__ == "__main__":
    sparse = Sparse()
    serve({"build": sparse.build, "query": sparse.query})
