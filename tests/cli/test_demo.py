"""The demo: a copy of our own notes, settings of its own, real answers and one refusal."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragchat.cli.demo import QUESTIONS, copy_sample_notes, demo_settings
from ragchat.paths import sample_notes_dir
from ragchat.settings import RetrievalSettings
from tests.cli.conftest import Ragchat


def test_the_notes_are_a_persons_folder() -> None:
    notes = [path for path in sample_notes_dir().rglob("*") if path.is_file()]
    texts = {path.name: path.read_bytes() for path in notes}
    assert len(notes) >= 14
    assert {path.suffix for path in notes} == {".md", ".txt", ".html"}
    assert any(b"\r\n" in text for text in texts.values())
    assert any(text.startswith(b"---\n") for text in texts.values())
    assert any("鍵".encode() in text for text in texts.values())
    assert any("борщ".encode() in text for text in texts.values())


def test_the_copy_is_restored_each_time(tmp_path: Path) -> None:
    notes = copy_sample_notes()
    assert notes.is_relative_to(tmp_path / "data")
    (notes / "house" / "lease.md").write_text("scribbled")
    (notes / "mine.md").write_text("mine")
    copied = copy_sample_notes()
    names = sorted(path.relative_to(copied) for path in copied.rglob("*"))
    assert names == sorted(path.relative_to(sample_notes_dir()) for path in sample_notes_dir().rglob("*"))
    assert (copied / "house/lease.md").read_bytes() == (sample_notes_dir() / "house/lease.md").read_bytes()


def test_only_server_and_theme_are_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHAT_RETRIEVAL_SOURCES", "9")
    monkeypatch.setenv("RAGCHAT_SCREEN_THEME", "ragchat-light")
    settings = demo_settings()
    assert settings.retrieval == RetrievalSettings()
    assert settings.screen.theme == "ragchat-light"
    assert set(settings.origins) == {"ollama.host", "screen.theme"}


def test_without_a_terminal_every_question_is_asked(ragchat: Ragchat) -> None:
    told = ragchat("demo")
    assert told.code == 0
    assert [line[2:] for line in told.out.splitlines() if line.startswith("> ")] == list(QUESTIONS)
    assert "NO ANSWER: " in told.out


def test_notes_that_cannot_be_copied_are_set_up(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(tmp_path / "file" / "data"))
    assert ragchat("demo", "--plain").code == 3
