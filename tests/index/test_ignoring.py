"""A document is ignored by name, whatever the name, and no other is; taking it back leaves nothing behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.documents.reader import supported
from ragchat.errors import StorageFailed, UsageError
from ragchat.index.ignoring import IGNORE_FILE, ignore, unignore
from ragchat.index.scan import scan
from ragchat.settings import NotesSettings

NAMES = st.text("ab*?[]!#\\ é日.-{}", min_size=1, max_size=8).map(lambda name: f"n{name}n.md")


def names(folder: Path) -> list[str]:
    return [note.name for note in scan(folder, NotesSettings(), supported).notes]


@given(st.sets(NAMES, min_size=2, max_size=5), st.booleans())
def test_the_named_document_and_no_other_is_passed_over(files: set[str], below: bool) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        place = folder / "sub" if below else folder
        place.mkdir(exist_ok=True)
        for file in files:
            (place / file).write_text("x", "utf-8")
        before = names(folder)
        chosen = before[0]
        assert ignore(folder, chosen)
        assert not ignore(folder, chosen)
        assert names(folder) == before[1:]
        assert unignore(folder, chosen)
        assert not unignore(folder, chosen)
        assert names(folder) == before
        assert not (folder / IGNORE_FILE).exists()


def test_what_stood_in_the_file_stays(tmp_path: Path) -> None:
    (tmp_path / IGNORE_FILE).write_bytes(b"*.tmp\r\n# mine")
    ignore(tmp_path, "a.md")
    assert (tmp_path / IGNORE_FILE).read_bytes() == b"*.tmp\r\n# mine\n/a.md\n"
    unignore(tmp_path, "a.md")
    assert (tmp_path / IGNORE_FILE).read_bytes() == b"*.tmp\r\n# mine\n"


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="line break"):
        ignore(tmp_path, "a\nb.md")
    (tmp_path / IGNORE_FILE).mkdir()
    with pytest.raises(StorageFailed, match="cannot be written"):
        ignore(tmp_path, "a.md")
