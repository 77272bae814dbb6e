"""The gate on notes that nobody here wrote, with the real embedder: what may pass, what must not be lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document
from ragchat.documents.reader import read_document
from ragchat.embedding.embedder import Embedder
from ragchat.embedding.registry import open_embedder
from ragchat.index.protocol import IndexStamp, Source
from ragchat.index.store import SqliteIndex, open_index
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.threshold import refresh_threshold
from ragchat.settings import EmbeddingSettings, RetrievalSettings

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"

pytestmark = [
    pytest.mark.corpora,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="no ../shared/corpora here"),
    pytest.mark.timeout(900),
]


def questions(name: str) -> list[dict[str, Any]]:
    lines = (CORPORA / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return open_embedder(EmbeddingSettings(), ollama_host="")


@pytest.fixture(scope="module")
def clapnq(embedder: Embedder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteIndex]:
    folder = CORPORA / "clapnq" / "corpus"
    index = open_index(tmp_path_factory.mktemp("clapnq"))
    index.begin(IndexStamp(embedder.stamp, "test"))
    for path in sorted(folder.iterdir()):
        document = read_document(path, path.name, max_bytes=10**8)
        assert isinstance(document, Document)
        chunks = chunk_document(document, ChunkOptions(), embedder)
        source = Source(path.name, 1, 1, document.digest, document.extractor, "indexed")
        index.replace(document, source, chunks, embedder.embed_passages([chunk.text for chunk in chunks]))
    yield index
    index.close()


def test_far_questions_are_refused_and_answerable_ones_are_not(
    clapnq: SqliteIndex, embedder: Embedder
) -> None:
    settings = RetrievalSettings()
    threshold = refresh_threshold(clapnq, embedder, settings)
    assert threshold.origin == "auto"
    retriever = Retriever(clapnq.snapshot(), embedder, settings, threshold)

    far = [retriever.retrieve(asked["question"]) for asked in questions("ood-en")]
    passing = sum(not trace.refused for trace in far)
    assert passing <= 0.08 * len(far), f"{passing} of {len(far)} far questions pass at {threshold}"

    asked = [asked for asked in questions("clapnq") if asked["answerable"]]
    traces = [retriever.retrieve(each["question"]) for each in asked]
    refused = sum(trace.refused for trace in traces)
    assert refused <= 0.05 * len(asked), f"{refused} of {len(asked)} answerable ones refused at {threshold}"

    found = sum(
        any(
            source.chunk.document == each["document"]
            and source.chunk.start < each["to"]
            and each["from"] < source.chunk.end
            for source in trace.sources
        )
        for each, trace in zip(asked, traces, strict=True)
    )
    assert found >= 0.90 * len(asked), f"the gold passage is among the sources of {found} of {len(asked)}"
