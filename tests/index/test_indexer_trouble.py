"""One thing that goes wrong is never another's trouble, and never forgotten."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import read_document
from ragchat.embedding.embedder import Matrix
from ragchat.errors import EmbedderUnavailable, FolderMissing, UsageError
from ragchat.index import plan
from ragchat.index.indexer import Indexer
from ragchat.settings import NotesSettings
from tests.doubles import WordEmbedder
from tests.index.building import indexer
from tests.index.notes import FailingEmbedder, Notes, counts


def test_a_broken_note_fails_alone_and_is_retried_when_it_changes(notes: Notes) -> None:
    notes.write(a="one")
    (notes.folder / "b.md").write_bytes(b"\x00\x01\x02\xff" * 100)
    report = notes.run()
    (failure,) = report.failures
    assert (failure.name, counts(report)) == ("b.md", {"indexed": 1, "added": 1, "chunks_embedded": 1})
    assert failure.reason
    assert report.complete
    assert notes.run().failures == report.failures
    notes.write(b="two")
    assert counts(notes.run()) == {"indexed": 2, "updated": 1, "unchanged": 1, "chunks_embedded": 1}


def test_a_cp1252_note_does_not_stop_the_others(notes: Notes) -> None:
    notes.write(a="one", z="two")
    (notes.folder / "m.md").write_bytes("The term \x97 two years \x97 ends in March. ".encode("latin-1") * 5)
    report = notes.run()
    assert report.indexed + len(report.failures) == 3
    assert notes.found("two")


def test_a_failed_note_is_read_again_only_when_asked(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "RACY_NS", 0)  # the note was written a moment ago
    reads: list[str] = []

    def read(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        reads.append(name)
        return FailedDocument(name, "reason", "hint", "d" * 64)

    notes.write(a="one")
    again = Indexer(
        notes.folder,
        notes.index,
        lambda: notes.embedder,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        read=read,
    )
    assert again.run().failures[0].reason == "reason"
    again.run()
    assert reads == ["a.md"]
    again.run(retry=True)
    assert reads == ["a.md"] * 2
    assert counts(notes.run(retry=True)) == {"indexed": 1, "updated": 1, "chunks_embedded": 1}


def test_a_note_that_could_not_even_be_opened_is_tried_each_time(notes: Notes) -> None:
    """A change of permissions leaves no trace in size and time."""
    notes.write(a="one")

    def refuse(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        raise PermissionError(13, "Permission denied")

    locked = Indexer(
        notes.folder,
        notes.index,
        lambda: notes.embedder,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        read=refuse,
    )
    assert "Permission denied" in locked.run().failures[0].reason
    assert counts(notes.run()) == {"indexed": 1, "updated": 1, "chunks_embedded": 1}


@pytest.mark.parametrize("where", ["read", "chunk"])
def test_what_no_one_foresaw_fails_alone_too(notes: Notes, where: str) -> None:
    notes.write(a="one", b="two", c="three")
    ordinary = indexer(notes.folder, notes.index, notes.embedder)

    def read(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        if where == "read" and name == "b.md":
            raise RecursionError("maximum\nrecursion depth exceeded")
        return read_document(path, name, max_bytes=max_bytes)

    def chunk(document: Document, options: ChunkOptions, counter: object) -> list[object]:
        if where == "chunk" and document.name == "b.md":
            raise RecursionError("maximum\nrecursion depth exceeded")
        return ordinary._chunk(document, options, notes.embedder)  # type: ignore[return-value]

    report = Indexer(
        notes.folder,
        notes.index,
        lambda: notes.embedder,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        read=read,
        chunk=chunk,  # type: ignore[arg-type]
    ).run()
    (failure,) = report.failures
    assert (failure.name, report.indexed) == ("b.md", 2)
    assert failure.reason == "could not be read (RecursionError: maximum recursion depth exceeded)"


@pytest.mark.parametrize("part", ["text", "title", "reason"])
def test_what_is_no_unicode_fails_alone(notes: Notes, part: str) -> None:
    notes.write(a="one", b="two")

    def read(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        result = read_document(path, name, max_bytes=max_bytes)
        assert isinstance(result, Document)
        if name == "a.md":
            return result
        if part == "reason":
            return FailedDocument(name, "lone \ud800", "", result.digest)
        if part == "title":
            return dataclasses.replace(result, title="lone \ud800")
        return dataclasses.replace(result, text="lone \ud800")

    report = Indexer(
        notes.folder,
        notes.index,
        lambda: notes.embedder,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        read=read,
    ).run()
    assert (report.indexed, [failure.name for failure in report.failures]) == (1, ["b.md"])


def test_a_file_over_the_limit_is_a_failed_document(notes: Notes) -> None:
    notes.write(a="one", big="x" * 3_000)
    report = notes.run(notes=NotesSettings(max_file_mb=0.001))
    assert [failure.name for failure in report.failures] == ["big.md"]


def test_files_that_vanish_or_change_while_they_are_read(notes: Notes) -> None:
    notes.write(c="three", b="two", a="one")  # the latest is read first

    def read(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        if name == "a.md":
            (notes.folder / "b.md").unlink()
        result = read_document(path, name, max_bytes=max_bytes)
        if name == "c.md":
            path.write_text("three and more")
        return result

    report = Indexer(
        notes.folder,
        notes.index,
        lambda: notes.embedder,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        read=read,
    ).run()
    assert (report.indexed, report.failures, report.complete) == (2, (), True)
    assert counts(notes.run()) == {"indexed": 2, "updated": 1, "unchanged": 1, "chunks_embedded": 1}
    assert notes.found("more") == ["three and more"]


def test_a_missing_folder_keeps_the_index(notes: Notes) -> None:
    notes.write(a="one")
    notes.run()
    notes.folder.rename(notes.folder.with_name("away"))
    with pytest.raises(FolderMissing):
        notes.run()
    assert notes.index.coverage().indexed == 1


@pytest.mark.parametrize("rebuild", [False, True])
def test_an_empty_folder_keeps_the_index_with_a_warning(notes: Notes, rebuild: bool) -> None:
    notes.write(a="one", b="two")
    notes.run()
    for path in notes.folder.iterdir():
        path.unlink()
    report = notes.run(rebuild=rebuild)
    assert (report.indexed, report.removed) == (2, 0)
    assert "2 documents is kept" in report.warning


def test_an_emptied_folder_that_held_most_notes_may_not_be_mounted(notes: Notes) -> None:
    notes.write(a="one", disk__b="two", disk__c__d="three")
    notes.run()
    shutil.rmtree(notes.folder / "disk")
    (notes.folder / "disk").mkdir()
    report = notes.run()
    assert (report.indexed, report.warning) == (
        3,
        "disk/ is empty now: 2 documents kept until that folder is deleted",
    )
    (notes.folder / "disk").rmdir()
    report = notes.run()
    assert (report.indexed, report.removed, report.warning) == (1, 2, "")


def test_an_emptied_inbox_is_ordinary(notes: Notes) -> None:
    notes.write(a="one", b="two", inbox__c="three")
    notes.run()
    (notes.folder / "inbox/c.md").unlink()
    report = notes.run()
    assert (report.indexed, report.removed, report.warning) == (2, 1, "")


@pytest.mark.parametrize("stays", [True, False], ids=["an empty mount point", "nothing"])
@pytest.mark.parametrize("rebuild", [True, False], ids=["rebuild", "update"])
def test_a_folder_that_goes_away_in_mid_run_costs_no_document(
    notes: Notes, stays: bool, rebuild: bool
) -> None:
    notes.write(**{f"n{number}": f"note {number}" for number in range(8)})
    notes.run()
    notes.write(**{f"n{number}": f"note {number} edited" for number in range(8)})
    away = notes.folder.with_name("away")

    def read(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        if name == "n3.md":
            notes.folder.rename(away)
            if stays:
                notes.folder.mkdir()
        return read_document(path, name, max_bytes=max_bytes)

    running = Indexer(
        notes.folder,
        notes.index,
        lambda: notes.embedder,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        expected_stamp=lambda: notes.embedder.stamp,
        read=read,
    )
    with pytest.raises(FolderMissing, match="went away"):
        running.run(rebuild=rebuild)
    assert notes.index.coverage().indexed == 8
    if stays:
        notes.folder.rmdir()
    away.rename(notes.folder)
    report = notes.run()
    assert (report.indexed, report.removed, report.complete) == (8, 0, True)
    assert notes.found("edited")


def test_what_lies_in_an_unreadable_folder_is_not_gone(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    notes.write(a="one", b="two", locked__c="three")
    notes.run()
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if path.name == "locked":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("ragchat.index.scan.os.scandir", refusing)
    report = notes.run()
    assert (report.indexed, report.removed) == (3, 0)
    assert report.warning == "locked/ cannot be read: 1 document kept"


def test_a_passing_embedding_failure_leaves_its_note_pending(notes: Notes) -> None:
    notes.write(a="one", b="poison", c="three")
    embedder = FailingEmbedder("poison")
    failing = Notes(notes.folder, notes.index, embedder)
    report = failing.run()
    assert counts(report) == {"indexed": 2, "added": 2, "chunks_embedded": 2, "pending": 1}
    assert (report.complete, report.failures) == (False, ())
    assert report.embedding_error == "connection reset"
    assert notes.index.sources().keys() == {"a.md", "c.md"}
    embedder.word = ""
    report = failing.run()
    assert counts(report) == {"indexed": 3, "added": 1, "unchanged": 2, "chunks_embedded": 1}
    assert report.complete


def test_a_changed_note_that_cannot_be_embedded_keeps_its_old_version(notes: Notes) -> None:
    notes.write(a="one words")
    notes.run()
    notes.write(a="poison words")
    assert Notes(notes.folder, notes.index, FailingEmbedder("poison")).run().pending == 1
    assert notes.found("words") == ["one words"]
    assert counts(notes.run()) == {"indexed": 1, "updated": 1, "chunks_embedded": 1}


def test_a_moved_note_that_cannot_be_embedded_keeps_its_old_version(notes: Notes) -> None:
    notes.write(a="word " * 90 + "\n\n" + "poison " * 80)
    notes.run()
    (notes.folder / "a.md").rename(notes.folder / "z.md")
    report = Notes(notes.folder, notes.index, FailingEmbedder("z")).run()
    assert (report.pending, report.indexed) == (1, 1)
    assert notes.index.document_text("a.md") is not None
    report = notes.run()
    assert (report.moved, report.pending, report.indexed) == (1, 0, 1)


def test_an_embedder_that_is_down_is_not_asked_for_every_note(notes: Notes) -> None:
    notes.write(**{f"n{number:03}": f"note {number}" for number in range(200)})
    (notes.folder / "gone.md").write_text("gone")

    class Down(FailingEmbedder):
        calls = 0

        def embed_passages(self, texts: Sequence[str]) -> Matrix:
            self.calls += 1
            return super().embed_passages(texts)

    embedder = Down("note")
    report = Notes(notes.folder, notes.index, embedder).run()
    assert embedder.calls == 5  # a batch, the one good note of it, and three that failed in a row
    assert (report.complete, report.indexed, report.pending) == (False, 1, 200)


@pytest.mark.parametrize("fault", ["shape", "length", "nan"])
def test_an_embedder_that_gives_no_unit_vectors_stores_nothing(notes: Notes, fault: str) -> None:
    class Faulty(WordEmbedder):
        def embed_passages(self, texts: Sequence[str]) -> Matrix:
            vectors = super().embed_passages(texts)
            match fault:
                case "shape":
                    return vectors[:, 1:]
                case "length":
                    return vectors * 3
                case _:
                    return vectors * np.float32("nan")

    notes.write(a="one")
    report = Notes(notes.folder, notes.index, Faulty(dimensions=64)).run()
    assert (report.indexed, report.pending) == (0, 1)
    assert "unit vectors" in report.embedding_error


def test_a_model_that_cannot_be_loaded_changes_nothing(notes: Notes) -> None:
    notes.write(a="one", b="two")
    notes.run()
    notes.write(c="three")
    (notes.folder / "a.md").unlink()

    def unavailable() -> WordEmbedder:
        raise EmbedderUnavailable("no model", hint="ragchat doctor")

    broken = Indexer(
        notes.folder,
        notes.index,
        unavailable,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        expected_stamp=lambda: notes.embedder.stamp,
    )
    with pytest.raises(EmbedderUnavailable):
        broken.run()
    assert notes.index.sources().keys() == {"a.md", "b.md"}


def test_a_window_too_small_for_any_passage_is_no_fault_of_the_notes(notes: Notes) -> None:
    notes.write(a="one")
    with pytest.raises(UsageError):
        Notes(notes.folder, notes.index, WordEmbedder(window=8)).run()
    assert list(notes.index.failures()) == []


def test_loops_end_and_what_lies_outside_is_not_indexed(notes: Notes) -> None:
    notes.write(a="one")
    (notes.folder / "man").symlink_to(".")
    (notes.folder / "passwd.md").symlink_to("/etc/passwd")
    report = notes.run()
    assert (report.indexed, report.chunks) == (1, 1)
    assert report.skipped == {"link loop": 1, "link out of the folder": 1}


def test_nothing_is_written_into_the_notes(notes: Notes) -> None:
    notes.write(a="one", b__c="two")
    listing = ["find", ".", "-printf", "%p %T@ %s\n"]
    before = subprocess.run(listing, cwd=notes.folder, capture_output=True, check=True).stdout
    notes.run()
    notes.run(rebuild=True)
    assert subprocess.run(listing, cwd=notes.folder, capture_output=True, check=True).stdout == before
