from __future__ import annotations

import itertools
import json
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragchat.embedding import transformer
from ragchat.embedding.embedder import Embedder
from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.packaged import MINILM, package_folder
from ragchat.embedding.registry import expected_stamp, open_embedder
from ragchat.embedding.texts import pieces
from ragchat.embedding.vectors import assert_unit
from ragchat.errors import EmbedderUnavailable
from ragchat.settings import EmbeddingSettings
from tests.embedding.test_onnx import TEXTS

pytestmark = pytest.mark.torch

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    settings = EmbeddingSettings(model=str(package_folder(MINILM)))
    return open_embedder(settings, ollama_host="", cache=tmp_path_factory.mktemp("reference"))


def linked_model(folder: Path) -> Path:
    """The packaged model under another name, whose settings can be changed."""
    folder.mkdir(parents=True)
    for file in package_folder(MINILM).rglob("*"):
        target = folder / file.relative_to(package_folder(MINILM))
        if file.is_dir():
            target.mkdir()
        elif file.suffix == ".json":
            shutil.copyfile(file, target)
        else:
            target.symlink_to(file)
    return folder


def test_the_stamp_names_folder_weights_and_window(reference: Embedder) -> None:
    assert reference.stamp.model == str(package_folder(MINILM))
    assert reference.stamp.weights == MINILM.weights
    assert (reference.stamp.dimensions, reference.window) == (384, 256)
    assert reference.stamp.runtime == "sentence-transformers"


def test_the_exported_model_is_the_same_model(reference: Embedder, embedder: OnnxEmbedder) -> None:
    expected, found = reference.embed_passages(TEXTS), embedder.embed_passages(TEXTS)
    assert_unit(expected, model="reference")
    assert np.min(np.sum(expected * found, axis=1)) >= 0.99999
    assert [reference.count_tokens(t) for t in TEXTS] == [embedder.count_tokens(t) for t in TEXTS]
    assert float(reference.embed_question("lease") @ embedder.embed_question("lease")) >= 0.99999
    assert reference.embed_passages([]).shape == (0, 384)
    assert reference.stamp != embedder.stamp


def test_token_vectors_are_those_of_the_exported_model(reference: Embedder, embedder: OnnxEmbedder) -> None:
    assert reference.token_dimensions == embedder.token_dimensions == 128
    assert reference.stamp.token_vectors == embedder.stamp.token_vectors != ""
    vectors, expected = reference.embed_passages_with_tokens(TEXTS)
    np.testing.assert_allclose(vectors, reference.embed_passages(TEXTS), atol=1e-5)
    _, found = embedder.embed_passages_with_tokens(TEXTS)
    np.testing.assert_array_equal(expected.offsets, found.offsets)
    assert int(np.max(np.abs(expected.data.astype(int) - found.data))) <= 1
    for question in (TEXTS[1], "When does the lease end? " * 60):
        vector, rows = reference.embed_question_with_tokens(question)
        same_vector, same_rows = embedder.embed_question_with_tokens(question)
        np.testing.assert_allclose(vector, same_vector, atol=1e-5)
        np.testing.assert_allclose(rows, same_rows, atol=1e-4)


def test_no_passages_have_token_vectors_of_a_shape(reference: Embedder) -> None:
    vectors, tokens = reference.embed_passages_with_tokens([])
    assert (vectors.shape, tokens.data.shape, tokens.offsets.tolist()) == ((0, 384), (0, 128), [0])


@pytest.mark.corpora
@pytest.mark.skipif(not CORPORA.is_dir(), reason="no corpora here")
def test_the_exported_model_is_the_same_on_real_notes(reference: Embedder, embedder: OnnxEmbedder) -> None:
    texts = []
    for corpus in ("clapnq", "xquad-en", "jsquad-ja", "debimate-notes"):
        for file in itertools.islice(sorted((CORPORA / corpus / "corpus").rglob("*.md")), 3):
            text = file.read_text(encoding="utf-8")[:1000]
            texts += pieces(text, lambda piece: embedder.count_tokens(piece) <= embedder.window)
    assert len(texts) >= 12
    expected, found = reference.embed_passages(texts), embedder.embed_passages(texts)
    assert np.min(np.sum(expected * found, axis=1)) >= 0.9999


def test_nothing_is_cut_silently(reference: Embedder) -> None:
    full = "word " * 254
    assert reference.count_tokens(full) == 256
    assert reference.count_tokens("word " * 1000) == 1002
    reference.embed_passages([full])
    with pytest.raises(ValueError, match="text 1 has 257 tokens; the window holds 256"):
        reference.embed_passages([full, full + "more"])
    assert_unit(reference.embed_question("漢 tulip " * 600)[None, :], model="reference")


def test_counting_and_encoding_go_on_side_by_side(reference: Embedder) -> None:
    expected = [reference.embed_question(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        counts = pool.map(reference.count_tokens, ["word " * 1000] * 50)
        vectors = list(pool.map(reference.embed_question, TEXTS))
        assert set(counts) == {1002}
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(expected, vectors, strict=True))


def test_the_stamp_is_remembered_for_these_files_only(tmp_path: Path) -> None:
    folder = linked_model(tmp_path / "model")
    settings = EmbeddingSettings(model=str(folder))
    assert expected_stamp(settings, ollama_host="", cache=tmp_path) is None
    embedder = open_embedder(settings, ollama_host="", cache=tmp_path)
    assert expected_stamp(settings, ollama_host="", cache=tmp_path) == embedder.stamp
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 128, "do_lower_case": false}')
    assert expected_stamp(settings, ollama_host="", cache=tmp_path) is None
    assert open_embedder(settings, ollama_host="", cache=tmp_path).window == 128


def test_a_models_own_prompts_are_used_unless_the_settings_have_others(
    tmp_path: Path, reference: Embedder
) -> None:
    folder = linked_model(tmp_path / "model")
    own = {"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": "query"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(own))
    embedder = open_embedder(EmbeddingSettings(model=str(folder)), ollama_host="", cache=tmp_path)
    assert (embedder.stamp.question_prompt, embedder.stamp.passage_prompt) == ("query: ", "passage: ")
    assert float(embedder.embed_question("lease") @ reference.embed_question("query: lease")) > 0.99999
    (passage,) = embedder.embed_passages(["lease"])
    assert float(passage @ reference.embed_question("passage: lease")) > 0.99999
    assert embedder.count_tokens("lease") == reference.count_tokens("passage: lease")
    _, found = embedder.embed_passages_with_tokens(["lease", ""])
    _, whole = reference.embed_passages_with_tokens(["passage: lease"])
    np.testing.assert_array_equal(found.rows(0), whole.rows(0)[2:])
    assert len(found.rows(1)) > 0
    settings = EmbeddingSettings(model=str(folder), question_prompt="Q ")
    remembered = expected_stamp(settings, ollama_host="", cache=tmp_path)
    assert remembered is not None
    assert (remembered.question_prompt, remembered.passage_prompt) == ("Q ", "passage: ")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty hub cache, and no network."""
    from huggingface_hub import constants

    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tmp_path / "hub"


def put_in_hub(hub: Path, repository: str) -> None:
    folder = hub / f"models--{repository.replace('/', '--')}"
    linked_model(folder / "snapshots" / "abc123")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc123")


@pytest.mark.parametrize("name", ["acme/tiny", "tiny", "no such/../name", "nul\x00byte"])
def test_a_model_that_is_not_here_is_not_downloaded(name: str, hub: Path, tmp_path: Path) -> None:
    settings = EmbeddingSettings(model=name)
    assert expected_stamp(settings, ollama_host="", cache=tmp_path) is None
    with pytest.raises(EmbedderUnavailable, match="nothing is downloaded without being asked") as caught:
        open_embedder(settings, ollama_host="", cache=tmp_path)
    assert caught.value.hint.startswith("ragchat fetch ")
    assert caught.value.message.isprintable()


@pytest.mark.parametrize(
    ("name", "repository"), [("acme/tiny", "acme/tiny"), ("tiny", "sentence-transformers/tiny")]
)
def test_a_model_in_the_hub_cache_is_opened_by_name(
    name: str, repository: str, hub: Path, tmp_path: Path
) -> None:
    put_in_hub(hub, repository)
    embedder = open_embedder(EmbeddingSettings(model=name), ollama_host="", cache=tmp_path)
    assert embedder.stamp.model == name
    assert embedder.stamp.weights == MINILM.weights


def test_a_download_is_made_when_asked_for_and_said(
    hub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load, said = transformer._load, []

    def download(name: str, *, local: bool) -> Any:
        if not local:
            said.append(f"(downloads {name})")
            put_in_hub(hub, name)
            return None
        return load(name, local=True)

    monkeypatch.setattr(transformer, "_load", download)
    settings = EmbeddingSettings(model="acme/tiny")
    for _ in range(2):
        open_embedder(settings, ollama_host="", cache=tmp_path, fetch=True, notify=said.append)
    assert said == [
        "downloading acme/tiny from huggingface.co",
        "(downloads acme/tiny)",
        "loading acme/tiny",
        "loading acme/tiny",
    ]


def test_a_download_that_cannot_be_made_says_so(hub: Path, tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="cannot load acme/tiny") as caught:
        open_embedder(EmbeddingSettings(model="acme/tiny"), ollama_host="", cache=tmp_path, fetch=True)
    assert caught.value.message.isprintable()


@pytest.mark.parametrize("name", ["./no-such-model", "~/no-such-model", "/no/such/model", ""])
def test_a_folder_that_is_not_there_is_named_as_it_was_typed(name: str, tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match="no embedding model in the folder") as caught:
        open_embedder(EmbeddingSettings(model=name), ollama_host="", cache=tmp_path)
    assert repr(name) in caught.value.message


def test_a_broken_model_folder_is_one_clear_line(tmp_path: Path) -> None:
    folder = linked_model(tmp_path / "model")
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(EmbedderUnavailable, match="cannot load") as caught:
        open_embedder(EmbeddingSettings(model=str(folder)), ollama_host="", cache=tmp_path)
    assert caught.value.message.isprintable()
    assert "all-MiniLM-L6-v2" in caught.value.hint
