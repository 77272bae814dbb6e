"""The bare product `X @ q` and the k best of it: what an exact scan in fp32 cannot do without."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.children.serve import serve

_LIMIT = 40


class Scan:
    """Vectors in memory."""

    def __init__(self) -> None:
        self._vectors: Any
        self._questions: Any

    def open(self, request: dict[str, Any]) -> None:
        """Read them whole: no page of them is fetched while a question is measured."""
        self._vectors = np.load(request["vectors"])
        self._questions = np.load(request["question_vectors"])

    def product(self, request: dict[str, Any]) -> None:
        """The product alone."""
        self._vectors @ self._questions[request["round"] % len(self._questions)]

    def best(self, request: dict[str, Any]) -> None:
        """The product and the best of it, in order."""
        scores = self._vectors @ self._questions[request["round"] % len(self._questions)]
        best = np.argpartition(scores, -_LIMIT)[-_LIMIT:]
        best[np.argsort(-scores[best], kind="stable")]


def main() -> None:
    """Serve until the parent has enough."""
    scan = Scan()
    serve({"open": scan.open, "product": scan.product, "best": scan.best})


if __name__ == "__main__":
    main()
