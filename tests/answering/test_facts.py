"""The facts of a document: its file as it is now beside what the index has of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ragchat.answering.facts import DocumentFacts, read_facts
from ragchat.index.protocol import Index, IndexStamp
from ragchat.index.store import open_index
from ragchat.settings import NotesSettings
from tests.index.building import EMBEDDER, put


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    opened = open_index(tmp_path / "data")
    opened.begin(IndexStamp(EMBEDDER.stamp, "test/1"))
    (tmp_path / "notes").mkdir()
    yield opened
    opened.close()


def facts_of(index: Index, tmp_path: Path, name: str) -> DocumentFacts:
    return read_facts(tmp_path / "notes", NotesSettings(), index, name)


def test_the_state_is_that_of_the_file_now(index: Index, tmp_path: Path) -> None:
    path = tmp_path / "notes" / "a.md"
    put(index, "a.md", "one two", "three four")
    path.write_bytes(b"one two\nthree four")
    facts = facts_of(index, tmp_path, "a.md")
    assert (facts.path, facts.state, facts.size, facts.kind) == (path, "as indexed", 18, "markdown")
    assert (facts.passages, facts.sections, facts.encoding) == (2, 1, "utf-8")
    assert facts.modified is not None
    assert facts.read_at is not None
    path.write_bytes("été".encode("cp1252"))
    facts = facts_of(index, tmp_path, "a.md")
    assert (facts.state, facts.size, facts.encoding) == ("changed since it was indexed", 3, "cp1252")
    path.unlink()
    facts = facts_of(index, tmp_path, "a.md")
    assert (facts.state, facts.size, facts.modified, facts.encoding) == ("no longer there", None, None, "")


def test_what_the_index_does_not_know_is_said_so(index: Index, tmp_path: Path) -> None:
    (tmp_path / "notes" / "new.pdf").write_bytes(b"%PDF")
    facts = facts_of(index, tmp_path, "new.pdf")
    assert (facts.state, facts.kind, facts.encoding) == ("not indexed", "pdf", "")
    assert (facts.passages, facts.sections, facts.read_at) == (0, 0, None)
