"""A folder that the built-in model cannot read is told apart, and the remedy is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document
from ragchat.documents.reader import parse_document
from ragchat.embedding.packaged import MINILM
from ragchat.index.progress import IndexProgress
from ragchat.index.protocol import IndexStamp
from ragchat.index.source import Source
from ragchat.index.store import open_index
from ragchat.retrieval.legibility import NoticedEarly, foreign_share, legibility_notice
from tests.doubles import WordEmbedder

ENGLISH = "# Lease\n\nThe lease ends on 31 March 2027; Zoë and Łukasz signed it.\n"
JAPANESE = "# 日記\n\n今日は京都へ行き、鍵を田中さんに預けた。\n"
RUSSIAN = "# Дача\n\nКлючи лежат у соседки.\n"


@pytest.mark.parametrize(
    ("texts", "share"), [([], 0.0), (["12 % — ☕"], 0.0), ([ENGLISH], 0.0), ([RUSSIAN], 1.0), (["aя"], 0.5)]
)
def test_the_share_of_other_scripts(texts: list[str], share: float) -> None:
    assert foreign_share(texts) == share


@pytest.mark.parametrize(
    ("notes", "model", "told"),
    [
        ([ENGLISH, ENGLISH, JAPANESE], "all-MiniLM-L6-v2", False),
        ([JAPANESE, RUSSIAN, ENGLISH], "all-MiniLM-L6-v2", True),
        ([JAPANESE, RUSSIAN], "ollama:bge-m3:latest", False),
        ([JAPANESE, RUSSIAN], "multilingual-e5-small", False),
        ([], "all-MiniLM-L6-v2", False),
    ],
)
def test_the_remedy_is_named_where_it_is_needed(
    tmp_path: Path, notes: list[str], model: str, told: bool
) -> None:
    embedder = WordEmbedder()
    index = open_index(tmp_path / "data")
    index.begin(IndexStamp(replace(embedder.stamp, model=model), "test"))
    for number, note in enumerate(notes):
        document = parse_document(note.encode(), f"{number}.md")
        assert isinstance(document, Document)
        chunks = chunk_document(document, ChunkOptions(), embedder)
        source = Source(document.name, 1, 1, document.digest, document.extractor, "indexed")
        index.replace(document, source, chunks, embedder.embed_passages([chunk.text for chunk in chunks]))
    notice = legibility_notice(index, Path("/my notes"))
    assert ("ragchat index --rebuild -f '/my notes'" in notice) is told
    assert ("ragchat config set embedding.model ollama:bge-m3 && " in notice) is told
    steps: list[IndexProgress] = []
    early = NoticedEarly(index, Path("/my notes"), steps.append)
    for done in range(len(notes) + 1):
        early(IndexProgress("indexing", documents_done=done, documents_total=len(notes)))
    assert [bool(step.notice) for step in steps] == [False] * len(notes) + [told]
    assert early.notice == notice
    index.close()
    assert ("ragchat pull bge-m3" in notice and MINILM.name in notice) is told
    assert (notice.find("multilingual-e5-small") < notice.find("bge-m3")) is told
    assert bool(notice) is told
