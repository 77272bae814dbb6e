"""Where everything lies: private, apart from the notes, the same for the same folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ragchat import paths


@pytest.mark.parametrize(
    ("variable", "place"),
    [
        ("RAGCHAT_DATA_DIR", paths.data_dir),
        ("RAGCHAT_CACHE_DIR", paths.cache_dir),
        ("RAGCHAT_CONFIG_DIR", paths.config_dir),
    ],
)
def test_a_variable_moves_its_folder(
    variable: str, place: object, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert callable(place)
    monkeypatch.setenv(variable, str(tmp_path))
    assert place() == tmp_path
    monkeypatch.setenv(variable, "~/there")
    assert place() == Path.home() / "there"
    monkeypatch.setenv(variable, "")
    assert place().name == "ragchat"


def test_a_folder_has_one_place_however_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (tmp_path / "link").symlink_to(notes)
    monkeypatch.chdir(tmp_path)
    places = {
        paths.folder_data_dir(named) for named in (notes, Path("notes"), Path("link"), notes / ".." / "notes")
    }
    assert len(places) == 1
    assert paths.folder_data_dir(tmp_path) not in places


def test_a_folder_whose_name_is_no_text_has_a_place(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    assert paths.folder_data_dir(odd) != paths.folder_data_dir(tmp_path)


def test_private_folders_are_private(tmp_path: Path) -> None:
    made = paths.make_private_dir(tmp_path / "a" / "b")
    assert made.stat().st_mode & 0o077 == 0
    made.chmod(0o755)
    assert paths.make_private_dir(made).stat().st_mode & 0o077 == 0


def test_what_is_bundled_is_there() -> None:
    assert len(list(paths.bundled_themes_dir().glob("*.toml"))) >= 4
    assert len(list(paths.sample_notes_dir().rglob("*.md"))) >= 10
    assert len(paths.off_topic_questions_path().read_text(encoding="utf-8").splitlines()) >= 200
