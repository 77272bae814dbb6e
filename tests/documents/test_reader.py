"""From a path to a document: which files have a reader, and what fails alone."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from posixpath import splitext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.documents import markdown
from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import _suffix, extractor_of, parse_document, read_document, supported

LIMIT = 1_000


@pytest.mark.parametrize(
    ("name", "extractor"),
    [
        ("a.md", "markdown/3"),
        ("a/b.MD", "markdown/3"),
        ("a.Rmd", "markdown/3"),
        ("テスト.markdown", "markdown/3"),
        ("a.txt", "text/1"),
        ("README", "text/1"),
        ("a.log", "text/1"),
        ("a.htm", "html/2"),
        ("a.xhtml", "html/2"),
        ("a.zip", ""),
        ("a.md.bak", ""),
    ],
)
def test_the_suffix_decides_who_reads(name: str, extractor: str) -> None:
    assert extractor_of(name) == extractor
    assert supported(name) == bool(extractor)
    document = parse_document(b"words", name)
    assert document.extractor == extractor
    assert isinstance(document, Document if extractor else FailedDocument)


def test_a_file_is_read_with_its_digest(tmp_path: Path) -> None:
    path = tmp_path / "テスト.md"
    path.write_bytes(b"# A\r\n\r\nwords\r\n")
    document = read_document(path, "sub/テスト.md", max_bytes=LIMIT)
    assert isinstance(document, Document)
    assert document.name == "sub/テスト.md"
    assert document.text == "# A\r\n\r\nwords\r\n"
    assert document.digest == hashlib.sha256(path.read_bytes()).hexdigest()


def failure(path: Path) -> FailedDocument:
    failed = read_document(path, path.name, max_bytes=LIMIT)
    assert isinstance(failed, FailedDocument)
    assert failed.hint
    assert failed.extractor == "markdown/3"
    return failed


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"x" * LIMIT)
    assert isinstance(read_document(path, "a.md", max_bytes=LIMIT), Document)
    path.write_bytes(b"x" * (LIMIT + 1))
    assert "more than the limit" in failure(path).reason


def test_what_is_not_there_or_no_file_fails_alone(tmp_path: Path) -> None:
    assert "No such file" in failure(tmp_path / "gone.md").reason
    folder = tmp_path / "folder.md"
    folder.mkdir()
    assert failure(folder).reason


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_links_and_pipes_are_not_opened(tmp_path: Path) -> None:
    link = tmp_path / "link.md"
    link.symlink_to("/etc/passwd")
    assert "it is a link" in failure(link).hint
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    assert "no regular file" in failure(pipe).reason


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.touch(mode=0)
    assert "Permission denied" in failure(path).reason


def test_a_reader_that_chokes_fails_only_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def choke(data: bytes, name: str, digest: str) -> Document:
        raise RecursionError

    monkeypatch.setattr(markdown, "parse", choke)
    failed = parse_document(b"x", "a.md")
    assert isinstance(failed, FailedDocument)
    assert "RecursionError" in failed.reason


@given(st.text(alphabet="a.B/ ~é", max_size=12))
def test_a_suffix_is_what_the_library_takes_for_one(name: str) -> None:
    assert _suffix(name) == splitext(name)[1].lower()
