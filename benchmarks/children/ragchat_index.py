"""ragchat's own index: built, opened, and asked part by part."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.children.serve import serve
from benchmarks.notes import fill
from benchmarks.synthetic import CHUNKS_PER_NOTE
from ragchat.answering.filtered import retrieve_filtered
from ragchat.answering.workspace import Workspace
from ragchat.embedding.embedder import EmbedderStamp, Matrix, Vector
from ragchat.index.protocol import Scope, Snapshot
from ragchat.index.tokens import tokenize
from ragchat.retrieval.filters import Filters
from ragchat.retrieval.fusion import fuse
from ragchat.retrieval.gate import judge
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.trace import Candidate, Threshold
from ragchat.settings import IndexSettings, RetrievalSettings, Settings

_THRESHOLD = Threshold(0.5, "setting")
_LIMIT = RetrievalSettings().candidates
_EVERYWHERE = Scope()


class _Prepared:
    """Stands for the embedder: the question's vector is known, so that only the search is measured."""

    def __init__(self, stamp: EmbedderStamp) -> None:
        self.stamp = stamp
        self.window = stamp.window
        self.vector: Vector

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        return self.vector, np.zeros((0, 0), dtype=np.float32)

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(name)


class Engine:
    """One folder's index."""

    def __init__(self) -> None:
        self._workspace: Workspace
        self._snapshot: Snapshot
        self._retriever: Retriever
        self._embedder: Any
        self._questions: list[str] = []
        self._vectors: Matrix

    def build(self, request: dict[str, Any]) -> None:
        """Write the material into a fresh index."""
        texts = Path(request["texts"]).read_text(encoding="utf-8").splitlines()
        vectors = np.load(request["vectors"], mmap_mode="r")
        workspace = Workspace(Path(request["folder"]), _settings(request))
        fill(
            workspace,
            texts,
            vectors,
            on_disk=request.get("on_disk", False),
            chunks_per_note=request.get("chunks_per_note", CHUNKS_PER_NOTE),
        )
        workspace.close()

    def load(self, request: dict[str, Any]) -> None:
        """The questions, and which folder."""
        self._questions = json.loads(Path(request["questions"]).read_text(encoding="utf-8"))
        self._vectors = np.load(request["question_vectors"])
        self._workspace = Workspace(Path(request["folder"]), _settings(request))

    def open(self, request: dict[str, Any]) -> None:
        """Until a question could be asked."""
        self._snapshot = self._workspace.index().snapshot()
        self._embedder = _Prepared(self._snapshot.stamp.embedder)
        self._retriever = Retriever(self._snapshot, self._embedder, RetrievalSettings(), _THRESHOLD)

    def close(self, request: dict[str, Any]) -> None:
        """Give up what was opened."""
        del self._snapshot, self._retriever
        self._workspace.close()
        self._workspace = Workspace(self._workspace.folder, self._workspace.settings)

    def retrieve(self, request: dict[str, Any]) -> None:
        """The whole search behind an embedded question: dense, BM25, fusion, gate."""
        question, self._embedder.vector = self._question(request)
        self._retriever.retrieve(question)

    def parts(self, request: dict[str, Any]) -> dict[str, Any]:
        """The same question once more, each part by itself, through the same public functions."""
        question, vector = self._question(request)
        marks = [time.perf_counter()]
        dense = self._snapshot.dense(vector, _LIMIT, _EVERYWHERE)
        marks.append(time.perf_counter())
        lexical = self._snapshot.lexical(tokenize(question), _LIMIT, _EVERYWHERE)
        marks.append(time.perf_counter())
        order = fuse([[hit.chunk_id for hit in hits] for hits in (dense, lexical)])
        marks.append(time.perf_counter())
        chunks = self._snapshot.chunks(order)
        distances = 1 - self._snapshot.vectors(order) @ vector
        candidates = [
            Candidate(number, chunk, float(distance), None, None, None, rank, None, "too far")
            for rank, (number, chunk, distance) in enumerate(
                zip(order, chunks, distances, strict=True), start=1
            )
        ]
        marks.append(time.perf_counter())
        judge(candidates, _THRESHOLD.value, RetrievalSettings().sources)
        marks.append(time.perf_counter())
        names = ("dense", "bm25", "fusion", "candidates", "gate")
        return {name: marks[at + 1] - marks[at] for at, name in enumerate(names)}

    def exact(self, request: dict[str, Any]) -> None:
        """The nearest with every vector compared, as before a refusal."""
        _, vector = self._question(request)
        self._snapshot.dense(vector, _LIMIT, _EVERYWHERE, exact=True)

    def filtered(self, request: dict[str, Any]) -> None:
        """The whole search in one folder."""
        question, self._embedder.vector = self._question(request)
        retrieve_filtered(self._retriever, question, Filters(within=(request["within"],)))

    def recall(self, request: dict[str, Any]) -> dict[str, Any]:
        """Which share of the nearest is proposed without comparing every vector."""
        shares = []
        for vector in self._vectors[: request["questions"]]:
            nearest, proposed = (
                {hit.chunk_id for hit in self._snapshot.dense(vector, _LIMIT, _EVERYWHERE, exact=exact)}
                for exact in (True, False)
            )
            shares.append(len(nearest & proposed) / len(nearest))
        return {"recall": sum(shares) / len(shares)}

    def _question(self, request: dict[str, Any]) -> tuple[str, Vector]:
        at = request["round"] % len(self._questions)
        return self._questions[at], self._vectors[at]


def _settings(request: dict[str, Any]) -> Settings:
    """backend: the address of a shared library, else the index is a file."""
    return Settings(index=IndexSettings(backend=request.get("backend", "")))


def main() -> None:
    """Serve until the parent has enough."""
    engine = Engine()
    serve(
        {
            "build": engine.build,
            "load": engine.load,
            "open": engine.open,
            "close": engine.close,
            "retrieve": engine.retrieve,
            "parts": engine.parts,
            "exact": engine.exact,
            "filtered": engine.filtered,
            "recall": engine.recall,
        }
    )


if __name__ == "__main__":
    main()
