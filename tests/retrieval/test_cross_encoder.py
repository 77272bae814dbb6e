"""A real cross-encoder, made here: tiny, untrained, and loaded as any other."""

from __future__ import annotations

import socket
import threading
from pathlib import Path

import pytest

from ragchat.answering.workspace import Workspace
from ragchat.embedding import registry
from ragchat.errors import EmbedderUnavailable
from ragchat.evaluation.questions import Gold, Question, QuestionSet
from ragchat.evaluation.study import study
from ragchat.index.protocol import Scope
from ragchat.retrieval.cross_encoder import open_cross_encoder
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.trace import Threshold
from ragchat.settings import RetrievalSettings, Settings
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemorySnapshot, passage

pytestmark = pytest.mark.torch

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*SPECIAL, "the", "lease", "ends", "in", "march", "rent", "is", "due", "on", "first", "day", "of"]
CHUNKS = [
    passage("the lease ends in march", "a.md"),
    passage("the rent is due on the first day", "b.md"),
    passage("march is the first of the rent", "c.md"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("cross-encoder"), labels=1)


def make_cross_encoder(folder: Path, labels: int) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    torch.manual_seed(1)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    tokenizer = BertTokenizer(str(folder / "vocab.txt"))
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        num_labels=labels,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def test_scores_are_the_models_own(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*args: object) -> None:
        raise AssertionError("a local model asks nobody")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    reranker = open_cross_encoder(str(folder), tmp_path)
    scores = reranker.scores("the lease ends", CHUNKS)
    assert len(set(scores)) == 3
    assert list(reranker.scores("the lease ends", CHUNKS[::-1])) == pytest.approx(
        list(scores)[::-1], abs=1e-5
    )
    assert reranker.scores("the lease ends", []) == []
    assert len(reranker.weights) == 64
    # Longer than the model reads, and what no tokenizer takes.
    assert len(reranker.scores("the \ud800", [passage("rent " * 500)])) == 1


def test_the_order_is_the_models_and_the_verdicts_are_the_gates(folder: Path, tmp_path: Path) -> None:
    reranker = open_cross_encoder(str(folder), tmp_path)
    embedder = WordEmbedder()
    snapshot = MemorySnapshot(CHUNKS, embedder)
    threshold = Threshold(0.6, "setting")
    settings = RetrievalSettings()
    plain = Retriever(snapshot, embedder, settings, threshold).retrieve("the lease ends", Scope())
    ranked = Retriever(snapshot, embedder, settings, threshold, reranker=reranker).retrieve(
        "the lease ends", Scope()
    )
    scores = dict(
        zip((chunk.document for chunk in CHUNKS), reranker.scores("the lease ends", CHUNKS), strict=True)
    )
    order = [candidate.chunk.document for candidate in ranked.candidates]
    assert order == sorted(scores, key=lambda name: -scores[name])
    assert {c.chunk.document: c.distance for c in ranked.candidates} == pytest.approx(
        {c.chunk.document: c.distance for c in plain.candidates}
    )
    assert ranked.refused == plain.refused


def test_what_is_no_cross_encoder_is_said(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="is not on this machine"):
        open_cross_encoder(str(tmp_path / "missing"), tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    with pytest.raises(EmbedderUnavailable, match="cannot be loaded"):
        open_cross_encoder(str(tmp_path / "broken"), tmp_path)
    (tmp_path / "three").mkdir()
    three = make_cross_encoder(tmp_path / "three", labels=3)
    with pytest.raises(EmbedderUnavailable, match="gives 3 scores"):
        open_cross_encoder(str(three), tmp_path)


def test_it_is_a_setting_and_a_strategy_to_compare(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind in ("data", "cache", "config"):
        monkeypatch.setenv(f"RAGCHAT_{kind.upper()}_DIR", str(tmp_path / kind))
    words = WordEmbedder()
    monkeypatch.setattr(registry, "open_embedder", lambda *args, **kwargs: words)
    monkeypatch.setattr(registry, "expected_stamp", lambda *args, **kwargs: words.stamp)
    notes = tmp_path / "notes"
    notes.mkdir()
    for chunk in CHUNKS:
        (notes / chunk.document).write_text(chunk.content)
    settings = Settings(retrieval=RetrievalSettings(threshold=1.0, cross_encoder=str(folder)))
    workspace = Workspace(notes, settings)
    workspace.update()
    trace = workspace.assistant().retrieve("the lease ends")
    scores = [candidate.rerank_score for candidate in trace.candidates]
    assert None not in scores
    assert scores == sorted(scores, key=lambda score: -(score or 0))

    questions = QuestionSet((Question("q", "the lease ends", (Gold("a.md", 0, 5),), "q"),), (), "")
    plain = Workspace(notes, Settings(retrieval=RetrievalSettings(threshold=1.0)))
    examined = study(plain, questions, (), (), str(folder), tell=lambda text: None, cancel=threading.Event())
    assert [one.name for one in examined] == ["current", f"current + {folder}"]
    ((_, outcome),) = examined[1].asked
    order = [candidate.chunk.document for candidate in trace.candidates]
    assert outcome.ranks["ragchat"].whole == order.index("a.md") + 1
    workspace.close()
    plain.close()
