"""chromadb at its defaults (HNSW, approximate), given the same vectors."""

from __future__ import annotations

from typing import Any

import chromadb
import numpy as np

from benchmarks.children.serve import serve

_LIMIT = 40
_AT_ONCE = 5000


class Chroma:
    """One collection on disk."""

    def __init__(self) -> None:
        self._collection: Any
        self._vectors: Any
        self._questions: Any

    def build(self, request: dict[str, Any]) -> None:
        """Add all vectors."""
        self._vectors = np.load(request["vectors"])
        self._questions = np.load(request["question_vectors"])
        client = chromadb.PersistentClient(request["folder"])
        self._collection = client.create_collection("notes", configuration={"hnsw": {"space": "cosine"}})
        for start in range(0, len(self._vectors), _AT_ONCE):
            rows = self._vectors[start : start + _AT_ONCE]
            self._collection.add([str(start + at) for at in range(len(rows))], embeddings=rows)

    def query(self, request: dict[str, Any]) -> None:
        """The nearest for one question, as far as it finds them."""
        self._found(request["round"])

    def recall(self, request: dict[str, Any]) -> dict[str, Any]:
        """How many of the truly nearest it finds, over all questions."""
        shares = []
        for at, question in enumerate(self._questions):
            truly = {str(row) for row in np.argpartition(self._vectors @ question, -_LIMIT)[-_LIMIT:]}
            shares.append(len(truly & set(self._found(at))) / _LIMIT)
        return {"recall": float(np.mean(shares))}

    def _found(self, number: int) -> list[str]:
        question = self._questions[number % len(self._questions)]
        found: list[str] = self._collection.query(question[None], n_results=_LIMIT, include=[])["ids"][0]
        return found


if __name__ == "__main__":
    chroma = Chroma()
    serve({"build": chroma.build, "query": chroma.query, "recall": chroma.recall})
