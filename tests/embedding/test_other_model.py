"""Another model than the built-in one, in its own folder: narrow, with its own window and prompts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from ragchat.embedding import transformer_tokens
from ragchat.embedding.embedder import Embedder
from ragchat.embedding.registry import expected_stamp, open_embedder
from ragchat.embedding.vectors import assert_unit
from ragchat.settings import EmbeddingSettings
from tests.embedding.test_transformer import linked_model

pytestmark = pytest.mark.torch

WIDTH, WINDOW = 32, 64
TEXTS = ["The lease ends in March.", "", "賃貸契約", "word " * 55]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import torch
    from transformers import BertConfig, BertModel

    folder = linked_model(tmp_path_factory.mktemp("tiny") / "model")
    torch.manual_seed(5)
    config = BertConfig(
        hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, vocab_size=30522
    )
    (folder / "model.safetensors").unlink()
    BertModel(config).save_pretrained(folder)
    _change(folder / "1_Pooling" / "config.json", word_embedding_dimension=WIDTH)
    _change(folder / "sentence_bert_config.json", max_seq_length=WINDOW)
    own = {"query": "query: ", "passage": "passage: "}
    _change(folder / "config_sentence_transformers.json", prompts=own)
    return folder


def _change(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def tiny(folder: Path, cache: Path) -> Embedder:
    return open_embedder(EmbeddingSettings(model=str(folder)), ollama_host="", cache=cache)


def test_dimensions_window_and_prompts_are_its_own(tiny: Embedder, folder: Path, cache: Path) -> None:
    stamp = tiny.stamp
    assert (stamp.dimensions, stamp.window) == (WIDTH, WINDOW)
    assert (stamp.question_prompt, stamp.passage_prompt) == ("query: ", "passage: ")
    assert stamp.token_vectors.startswith(f"pca-1 {WIDTH}>{WIDTH} int8 ")
    assert expected_stamp(EmbeddingSettings(model=str(folder)), ollama_host="", cache=cache) == stamp


def test_its_token_vectors_are_the_texts_own(tiny: Embedder) -> None:
    vectors, tokens = tiny.embed_passages_with_tokens(TEXTS)
    assert_unit(vectors, model="tiny")
    np.testing.assert_allclose(vectors, tiny.embed_passages(TEXTS), atol=1e-5)
    assert tokens.data.shape == (tokens.offsets[-1], WIDTH)
    # Special tokens and the two of the prompt apart; a text of nothing keeps what it has.
    own = [tiny.count_tokens(text) - 4 for text in TEXTS]
    assert np.diff(tokens.offsets).tolist() == [own[0], 4, own[2], own[3]]


def test_nothing_over_its_window_is_cut_silently(tiny: Embedder) -> None:
    with pytest.raises(ValueError, match="the window holds 64"):
        tiny.embed_passages_with_tokens(["word " * 61])
    vector, rows = tiny.embed_question_with_tokens("When does the lease end? " * 30)
    assert_unit(vector[None, :], model="tiny")
    assert_unit(rows, model="tiny")
    assert rows.shape == (30 * 6, WIDTH)


def test_its_projection_is_made_once(
    tiny: Embedder, folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_again(model: object, name: str) -> None:
        raise AssertionError("the projection was made again")

    monkeypatch.setattr(transformer_tokens, "projection_for", made_again)
    again = open_embedder(EmbeddingSettings(model=str(folder)), ollama_host="", cache=cache)
    _, tokens = tiny.embed_passages_with_tokens(TEXTS)
    np.testing.assert_array_equal(again.embed_passages_with_tokens(TEXTS)[1].data, tokens.data)
