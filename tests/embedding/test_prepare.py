from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from ragchat.embedding import making
from ragchat.embedding.exported import MANIFEST_FILE, MODEL_FILE, TOKENIZER_FILE, WEIGHTS_FILE
from ragchat.embedding.packaged import PackagedModel
from ragchat.embedding.registry import open_embedder
from ragchat.errors import EmbedderUnavailable
from ragchat.settings import EmbeddingSettings
from tests.embedding.conftest import Race

SETTINGS = EmbeddingSettings()


def test_of_two_processes_one_exports_and_the_other_waits(race: Race) -> None:
    exporting = ["preparing the embedding model (once" in output for output in race.outputs]
    assert sorted(exporting) == [False, True], race.outputs
    assert "waiting for another ragchat" in race.outputs[exporting.index(False)]


def test_no_torch_is_loaded_by_the_process_that_embeds(race: Race) -> None:
    assert all("heavy: []" in output for output in race.outputs), race.outputs


def test_the_export_is_private_and_leaves_nothing_half_made(race: Race) -> None:
    for path in (race.cache / "models").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
    assert {file.name for file in race.model.iterdir()} == {
        MODEL_FILE,
        WEIGHTS_FILE,
        TOKENIZER_FILE,
        MANIFEST_FILE,
    }
    assert not list(race.cache.rglob("making-*"))


def test_a_prepared_model_opens_without_a_word_and_quickly(race: Race) -> None:
    open_embedder(SETTINGS, ollama_host="", cache=race.cache)  # imports are not what is measured here
    said: list[str] = []
    started = time.perf_counter()
    open_embedder(SETTINGS, ollama_host="", cache=race.cache, notify=said.append)
    assert time.perf_counter() - started < 2.0
    assert said == []


def _cut(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2)


def _scramble(file: Path) -> None:
    """The same size, other numbers."""
    with file.open("r+b") as opened:
        opened.seek(file.stat().st_size // 2)
        opened.write(b"\x3f" * 2_000_000 if file.stat().st_size > 4_000_000 else b"\x3f" * 1000)


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        (WEIGHTS_FILE, _cut),
        (WEIGHTS_FILE, _scramble),
        (WEIGHTS_FILE, Path.unlink),
        (MODEL_FILE, _cut),
        (MODEL_FILE, _scramble),
        (TOKENIZER_FILE, _cut),
        (MANIFEST_FILE, _cut),
        (MANIFEST_FILE, Path.unlink),
    ],
)
def test_a_damaged_export_is_noticed_and_made_again(
    name: str, damage: object, race: Race, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / race.model.relative_to(race.cache)
    shutil.copytree(race.model, copy)
    assert callable(damage)
    damage(copy / name)
    exports = _count_exports(race, monkeypatch)
    embedder = open_embedder(SETTINGS, ollama_host="", cache=tmp_path)
    assert exports == [copy.parent]
    assert embedder.embed_question("whole again").shape == (384,)
    assert {path.name for path in copy.parent.iterdir()} == {copy.name, f"{copy.name}.lock"}


def test_an_export_that_is_damaged_at_once_is_no_endless_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "_run_export", lambda *arguments: None)
    with pytest.raises(EmbedderUnavailable, match="damaged right after it was made") as caught:
        open_embedder(SETTINGS, ollama_host="", cache=tmp_path)
    assert str(tmp_path) in caught.value.hint


def test_a_killed_export_leaves_no_rubbish_for_ever(
    race: Race, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leftover = tmp_path / race.model.relative_to(race.cache).parent / "making-dead"
    leftover.mkdir(parents=True)
    (leftover / "plain.onnx").write_bytes(b"half")
    _count_exports(race, monkeypatch)
    open_embedder(SETTINGS, ollama_host="", cache=tmp_path)
    assert not leftover.exists()


def _export_unused_for(days: float, folder: Path) -> Path:
    folder.mkdir(parents=True)
    folder.with_name(f"{folder.name}.lock").touch()
    (folder / MODEL_FILE).write_bytes(b"model")
    (folder / MANIFEST_FILE).write_text("{}")
    then = time.time() - days * 24 * 3600
    os.utime(folder / MANIFEST_FILE, (then, then))
    return folder


def test_exports_that_nobody_has_opened_for_a_month_are_deleted(tmp_path: Path) -> None:
    old = _export_unused_for(40, tmp_path / "2-onnxruntime-1.20.0-abc")
    other = _export_unused_for(3, tmp_path / "3-int8-onnxruntime-1.32.0-abc")
    making.forget_unused(tmp_path)
    assert not old.exists()
    assert {path.name for path in tmp_path.iterdir()} == {other.name, f"{other.name}.lock"}
    assert {path.name for path in other.iterdir()} == {MODEL_FILE, MANIFEST_FILE}


def test_opening_an_export_tells_that_it_is_used(race: Race) -> None:
    manifest = race.model / MANIFEST_FILE
    os.utime(manifest, (0, 0))
    open_embedder(SETTINGS, ollama_host="", cache=race.cache)
    assert time.time() - manifest.stat().st_mtime < 600


def test_a_failed_export_says_why_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _export_is(tmp_path, "echo noise >&2; echo 'No space left on device' >&2; exit 1", monkeypatch)
    with pytest.raises(EmbedderUnavailable) as caught:
        open_embedder(SETTINGS, ollama_host="", cache=tmp_path / "cache")
    assert caught.value.message == "the embedding model could not be prepared: No space left on device"
    assert "RAGCHAT_EMBEDDING_MODEL=" in caught.value.hint
    assert not list((tmp_path / "cache").rglob("making-*"))


def test_a_killed_export_says_what_it_was_doing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _export_is(tmp_path, "echo loading the model; kill -9 $$", monkeypatch)
    with pytest.raises(EmbedderUnavailable, match="killed by signal 9 while loading the model"):
        open_embedder(SETTINGS, ollama_host="", cache=tmp_path / "cache")


def test_preparing_stops_at_once_when_the_user_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _export_is(tmp_path, "exec sleep 60", monkeypatch)
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    started = time.perf_counter()
    with pytest.raises(EmbedderUnavailable, match="was stopped"):
        open_embedder(SETTINGS, ollama_host="", cache=tmp_path / "cache", cancel=cancel)
    assert time.perf_counter() - started < 5
    assert not list((tmp_path / "cache").rglob("making-*"))


def test_waiting_for_another_process_stops_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _export_is(tmp_path, "exec sleep 60", monkeypatch)
    first, second, exporting = threading.Event(), threading.Event(), threading.Event()

    def export() -> None:
        with contextlib.suppress(EmbedderUnavailable):
            open_embedder(
                SETTINGS,
                ollama_host="",
                cache=tmp_path / "cache",
                cancel=first,
                notify=lambda _: exporting.set(),
            )

    said: list[str] = []

    def listen(message: str) -> None:
        said.append(message)
        second.set()

    exporter = threading.Thread(target=export)
    exporter.start()
    try:
        assert exporting.wait(30)
        with pytest.raises(EmbedderUnavailable, match=r"waiting .* was stopped"):
            open_embedder(SETTINGS, ollama_host="", cache=tmp_path / "cache", cancel=second, notify=listen)
        assert said == ["waiting for another ragchat that is preparing the embedding model"]
    finally:
        first.set()
        exporter.join()


def test_a_cache_that_cannot_be_written_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file is in the way")
    with pytest.raises(EmbedderUnavailable, match="cannot be kept in") as caught:
        open_embedder(SETTINGS, ollama_host="", cache=tmp_path)
    assert "RAGCHAT_CACHE_DIR" in caught.value.hint


def _count_exports(race: Race, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Exports become copies of the good one; the list tells in which folders they were made."""
    exports: list[Path] = []

    def copy(
        model: PackagedModel, source: Path, target: Path, precision: str, cancel: threading.Event
    ) -> None:
        exports.append(target.parent.parent)
        shutil.copytree(race.model, target, dirs_exist_ok=True)

    monkeypatch.setattr(making, "_run_export", copy)
    return exports


def _export_is(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
