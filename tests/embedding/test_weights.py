from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ragchat.embedding import weights
from ragchat.embedding.weights import recall, remember, remembered_hash


def test_a_file_is_hashed_once_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed = []

    def counting(file: Path) -> str:
        hashed.append(file)
        return hashlib.sha256(file.read_bytes()).hexdigest()

    monkeypatch.setattr(weights, "sha256_of", counting)
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    first = remembered_hash([file], tmp_path)
    assert remembered_hash([file], tmp_path) == first
    assert len(hashed) == 1
    # Same length and same time: only the inode tells that another file was put in its place.
    before = file.stat()
    (tmp_path / "other").write_bytes(b"two")
    (tmp_path / "other").replace(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert remembered_hash([file], tmp_path) == hashlib.sha256(b"two").hexdigest() != first


def test_the_hash_of_several_files_depends_on_each(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        file.write_text(file.name)
    both = remembered_hash(files, tmp_path)
    files[1].write_text("changed")
    assert remembered_hash(files, tmp_path) != both


def test_what_is_remembered_is_private_and_a_broken_note_is_no_note(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    file.write_bytes(b"one")
    remember([file], tmp_path / "models", {"sha256": "abc"})
    assert recall([file], tmp_path / "models") == {"sha256": "abc"}
    (note,) = (tmp_path / "models" / "known").iterdir()
    assert note.stat().st_mode & 0o077 == 0
    assert note.parent.stat().st_mode & 0o077 == 0
    note.write_text('{"sha2')
    assert recall([file], tmp_path / "models") is None
    assert remembered_hash([file], tmp_path / "models") == hashlib.sha256(b"one").hexdigest()
