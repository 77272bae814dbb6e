"""usearch, exact, in fp32: every row is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from usearch.index import MetricKind, search

from benchmarks.children.serve import serve

_LIMIT = 40


class Exact:
    """Vectors in memory."""

    def __init__(self) -> None:
        self._vectors: Any
        self._questions: Any

    def build(self, request: dict[str, Any]) -> None:
        """Nothing is built: the vectors are read."""
        self._vectors = np.load(request["vectors"])
        self._questions = np.load(request["question_vectors"])

    def query(self, request: dict[str, Any]) -> None:
        """The nearest for one question."""
        question = self._questions[request["round"] % len(self._questions)]
        search(self._vectors, question, _LIMIT, MetricKind.IP, exact=True, threads=2)


if __name__ == "__main__":
    exact = Exact()
    serve({"build": exact.build, "query": exact.query})
