"""Examine a folder as it is set up now: its index, its retriever, its threshold, on given questions."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import open_reader
from ragchat.embedding.embedder import Embedder
from ragchat.evaluation.asking import AskingListener, ask_all
from ragchat.evaluation.gold import load_questions
from ragchat.evaluation.measures import Asked
from ragchat.evaluation.questions import QuestionSet
from ragchat.evaluation.structure import Structure, measure_structure
from ragchat.index.protocol import Index
from ragchat.index.scan import note_path
from ragchat.index.source import Source
from ragchat.retrieval.cross_encoder import CrossEncoderReranker
from ragchat.retrieval.filters import NO_FILTERS, Filters, narrow
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.threshold import refresh_threshold
from ragchat.retrieval.trace import RetrievalTrace, Threshold
from ragchat.settings import Settings

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Examined:
    """The questions of a set asked of one index.

    name: of the strategy. corpus: sha256 over the names and contents of what is indexed.
    stamp: of the index, as a plain object.
    """

    name: str
    asked: Asked
    threshold: Threshold
    corpus: str
    stamp: Mapping[str, object]
    documents: int
    structure: Structure


def load_folder_questions(
    paths: Sequence[Path], folder: Path, index: Index, settings: Settings
) -> QuestionSet:
    """The questions of the files, their gold looked up in the folder's notes as they are now."""

    limit = int(settings.notes.max_file_mb * _MEGABYTE)
    with open_reader(settings.notes) as reader:

        def read(name: str) -> Document | FailedDocument:
            return reader(note_path(folder, name), name, max_bytes=limit)

        return load_questions(paths, index.sources(), read)


def examine(
    name: str,
    index: Index,
    embedder: Embedder,
    settings: Settings,
    questions: QuestionSet,
    place: Path,
    *,
    reranker: CrossEncoderReranker | None = None,
    filters: Filters = NO_FILTERS,
    on_progress: AskingListener | None = None,
    cancel: threading.Event | None = None,
) -> Examined:
    """Ask all questions of the index as it is, of the notes that the filters leave. place: where it lies.

    Raises IndexMissing, IndexStale; UsageError for a filter that names nothing there is.
    """
    threshold = refresh_threshold(index, embedder, settings.retrieval)
    snapshot = index.snapshot()
    retriever = Retriever(snapshot, embedder, settings.retrieval, threshold, reranker)
    narrowed = narrow(filters, retriever.sources())
    stamp, corpus = asdict(snapshot.stamp), corpus_digest(index.sources().values())
    made_by = {
        "corpus": corpus,
        "stamp": stamp,
        "retrieval": asdict(settings.retrieval),
        "threshold": asdict(threshold),
        "reranker": "" if reranker is None else reranker.weights,
        "filters": str(filters),
    }

    def retrieve(question: str) -> RetrievalTrace:
        return narrowed.told_in(retriever.retrieve(question, narrowed.scope))

    asked = ask_all(questions.questions, retrieve, made_by=made_by, on_progress=on_progress, cancel=cancel)
    return Examined(
        name=name,
        asked=asked,
        threshold=threshold,
        corpus=corpus,
        stamp=stamp,
        documents=snapshot.coverage.indexed,
        structure=measure_structure(index, questions.questions, place),
    )


def corpus_digest(sources: Iterable[Source]) -> str:
    """One digest of all that is indexed: names and contents, whatever the order."""
    facts = sorted((source.name, source.digest) for source in sources if source.state == "indexed")
    return sha256(json.dumps(facts).encode()).hexdigest()
