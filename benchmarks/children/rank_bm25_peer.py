"""rank-bm25's BM25Okapi as it comes, on words between blanks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rank_bm25 import BM25Okapi

from benchmarks.children.serve import serve

_LIMIT = 40


class Okapi:
    """One index in memory."""

    def __init__(self) -> None:
        self._index: Any
        self._questions: list[str] = []

    def build(self, request: dict[str, Any]) -> None:
        """From the texts."""
        texts = Path(request["texts"]).read_text(encoding="utf-8").splitlines()
        self._index = BM25Okapi([text.split() for text in texts], k1=1.2, b=0.75)
        self._questions = json.loads(Path(request["questions"]).read_text(encoding="utf-8"))

    def query(self, request: dict[str, Any]) -> None:
        """The best for one question."""
        scores = self._index.get_scores(self._questions[request["round"] % len(self._questions)].split())
        best = scores.argpartition(-_LIMIT)[-_LIMIT:]
        best[(-scores[best]).argsort(kind="stable")]


if __name__ == "__main__":
    okapi = Okapi()
    serve({"build": okapi.build, "query": okapi.query})
