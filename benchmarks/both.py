"""`python -m benchmarks.both CORPORA`: every question set asked of the local index and of a shared library.

Both hold the same notes under the same vectors, embedded once. Compared are the folder's threshold and, for
each question, whether it is refused, its sources in their order, and its own threshold. A difference is told
with the first stage at which the two part: the nearest, BM25, token vectors, or what is computed from them.
A second round, of `_GRAPH` questions, has HNSW propose also where the library would compare every vector.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.database import server
from ragchat.chunking.options import ChunkOptions
from ragchat.embedding.embedder import Embedder, Matrix, Vector
from ragchat.embedding.registry import open_embedder
from ragchat.evaluation.question_file import read_records
from ragchat.evaluation.remembering import Remembering
from ragchat.evaluation.suite import SharedSet, find_suite, in_the_notes_language
from ragchat.index.indexer import Indexer
from ragchat.index.postgres import snapshot as postgres_snapshot
from ragchat.index.postgres.store import open_library
from ragchat.index.protocol import Hit, Index, Scope, Snapshot
from ragchat.index.store import open_index
from ragchat.index.tokens import tokenize
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.threshold import refresh_threshold
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.settings import Settings

_GRAPH = 200
_EVERYWHERE = Scope()
_SETTINGS = Settings()
Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Difference:
    """One question of which the two backends make something else."""

    set: str
    search: str
    question: str
    what: str
    stage: str


class _Asked:
    """The embedder with every question embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, tuple[Vector, Matrix]] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._embedder, name)

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        if text not in self._known:
            self._known[text] = self._embedder.embed_question_with_tokens(text)
        return self._known[text]


def compare(chosen: SharedSet, strangers: Sequence[Path], url: str, embedder: Embedder) -> dict[str, object]:
    """One set: how many questions, how many alike, and every difference."""
    asked = _Asked(embedder)
    with tempfile.TemporaryDirectory() as place, _both(chosen, url, Path(place), embedder) as (local, shared):
        thresholds = [refresh_threshold(index, embedder, _SETTINGS.retrieval) for index in (local, shared)]
        files = [chosen.questions, *in_the_notes_language(strangers, local.snapshot())]
        texts = [text for path in files for record in read_records(path).records for text in record.phrasings]
        differences: list[Difference] = []
        seconds: dict[str, float] = {}
        exact_below = postgres_snapshot.EXACT_BELOW
        for search, below in (("exact", exact_below), ("HNSW", 0)):
            postgres_snapshot.EXACT_BELOW = below
            one, other = (
                Retriever(index.snapshot(), asked, _SETTINGS.retrieval, threshold)  # type: ignore[arg-type]
                for index, threshold in zip((local, shared), thresholds, strict=True)
            )
            some = texts if search == "exact" else texts[:: max(1, len(texts) // _GRAPH)]
            for text in some:
                started = time.perf_counter()
                ours = one.retrieve(text)
                between = time.perf_counter()
                theirs = other.retrieve(text)
                seconds[f"local, {search}"] = seconds.get(f"local, {search}", 0.0) + between - started
                seconds[search] = seconds.get(search, 0.0) + time.perf_counter() - between
                if what := _what_differs(ours, theirs):
                    stage = _stage(local.snapshot(), shared.snapshot(), asked, text)
                    differences.append(Difference(chosen.name, search, text, what, stage))
            postgres_snapshot.EXACT_BELOW = exact_below
            seconds = {
                name: took / len(some) if name.endswith(search) else took for name, took in seconds.items()
            }
            print(f"{chosen.name}, {search}: {len(some)} questions", flush=True)
        return {
            "set": chosen.name,
            "questions": len(texts),
            "chunks": local.chunk_count(),
            "thresholds": [threshold.value for threshold in thresholds],
            "same thresholds": asdict(thresholds[0]) == asdict(thresholds[1]),
            "differences": [asdict(difference) for difference in differences],
            "counts": Counter(f"{each.search}: {each.what} ({each.stage})" for each in differences),
            "ms a question": {name: round(1000 * took, 1) for name, took in seconds.items()},
        }


@contextmanager
def _both(chosen: SharedSet, url: str, place: Path, embedder: Embedder) -> Iterator[tuple[Index, Index]]:
    local, shared = open_index(place), open_library(url, chosen.name)
    for index in (local, shared):
        indexer = Indexer(
            chosen.notes,
            index,
            lambda: Remembering(embedder, [local]),
            notes=_SETTINGS.notes,
            chunking=ChunkOptions(**asdict(_SETTINGS.chunking)),
        )
        indexer.run()
    yield local, shared
    local.close()
    shared.close()


def _what_differs(ours: RetrievalTrace, theirs: RetrievalTrace) -> str:
    if ours.refused != theirs.refused:
        return "refusal"
    if _sources(ours) != _sources(theirs):
        return "order of sources" if set(_sources(ours)) == set(_sources(theirs)) else "sources"
    return "" if abs(ours.threshold.value - theirs.threshold.value) < 1e-6 else "threshold"


def _sources(trace: RetrievalTrace) -> list[Place]:
    return [(each.chunk.document, each.chunk.start, each.chunk.end) for each in trace.sources]


def _stage(local: Snapshot, shared: Snapshot, asked: _Asked, text: str) -> str:
    """Where the two part."""
    limit, vector = _SETTINGS.retrieval.candidates, asked.embed_question_with_tokens(text)[0]
    tokens = tokenize(text)
    if _placed(local, local.dense(vector, limit, _EVERYWHERE)) != _placed(
        shared, shared.dense(vector, limit, _EVERYWHERE)
    ):
        return "nearest"
    if _placed(local, local.lexical(tokens, limit, _EVERYWHERE)) != _placed(
        shared, shared.lexical(tokens, limit, _EVERYWHERE)
    ):
        return "BM25"
    return "after the searches"


def _placed(snapshot: Snapshot, hits: Sequence[Hit]) -> list[Place]:
    chunks = snapshot.chunks([hit.chunk_id for hit in hits])
    return [(chunk.document, chunk.start, chunk.end) for chunk in chunks]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print a line a set, write every difference. 1 when refusals or sources differ exactly."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.both", description=__doc__)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--json", type=Path, help="write every difference there")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()), help="for the database")
    parser.add_argument("--only", default="", help="sets, with commas between")
    given = parser.parse_args(arguments)
    suite = find_suite(given.corpora)
    embedder = open_embedder(_SETTINGS.embedding, ollama_host="", notify=print, cancel=None)
    reports: list[dict[str, object]] = []
    with server(given.work) as url:
        for chosen in suite.sets:
            if given.only and chosen.name not in given.only.split(","):
                continue
            report = compare(chosen, suite.strangers, url, embedder)
            reports.append(report)
            print({name: value for name, value in report.items() if name != "differences"}, flush=True)
            if given.json is not None:
                given.json.write_text(json.dumps(reports, ensure_ascii=False, indent=1), encoding="utf-8")
    exactly = [
        each
        for report in reports
        for each in report["differences"]  # type: ignore[attr-defined]
        if each["search"] == "exact" and each["what"] != "threshold"
    ]
    return 1 if exactly else 0


if __name__ == "__main__":
    raise SystemExit(main())
