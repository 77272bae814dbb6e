from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import extractor_of, read_document
from ragchat.embedding.embedder import Matrix
from ragchat.errors import EmbedderUnavailable, FolderMissing, IndexLocked, IndexStale, UsageError
from ragchat.index.batches import BATCH
from ragchat.index.indexer import Indexer
from ragchat.index.progress import IndexProgress, IndexReport
from ragchat.index.store import SqliteIndex, open_index
from ragchat.settings import NotesSettings
from tests.doubles import WordEmbedder
from tests.index.building import contents, indexer, write
from tests.index.contract import ANYWHERE, found


@dataclass
class Notes:
    """A folder, its index, and an embedder that remembers what it was asked."""

    folder: Path
    index: SqliteIndex
    embedder: WordEmbedder

    def run(
        self, *, rebuild: bool = False, retry: bool = False, notes: NotesSettings | None = None
    ) -> IndexReport:
        self.embedder.texts_embedded.clear()
        return indexer(self.folder, self.index, self.embedder, notes=notes).run(rebuild=rebuild, retry=retry)

    def write(self, **files: str) -> None:
        """Names with `__` for `/`, without the suffix .md. Old enough not to be racy."""
        for name, text in files.items():
            self.write_file(f"{name.replace('__', '/')}.md", text)

    def write_file(self, name: str, text: str) -> None:
        write(self.folder, {name: text})
        an_hour_ago = time.time_ns() - 3600 * 10**9
        os.utime(self.folder / name, ns=(an_hour_ago, an_hour_ago))

    def found(self, words: str) -> list[str]:
        snapshot = self.index.snapshot()
        return found(snapshot, snapshot.lexical(words.split(), 9, ANYWHERE))


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Notes]:
    (tmp_path / "notes").mkdir()
    index = open_index(tmp_path / "data")
    yield Notes(tmp_path / "notes", index, WordEmbedder(dimensions=64))
    index.close()


def counts(report: IndexReport) -> dict[str, int]:
    keys = ("indexed", "added", "updated", "moved", "removed", "unchanged", "chunks_embedded", "pending")
    return {key: getattr(report, key) for key in keys if getattr(report, key)}


def test_a_first_run_indexes_everything(notes: Notes) -> None:
    notes.write(a="# Lease\n\nIt ends in March.", b__c="Cats sleep.")
    write(notes.folder, {"x.zip": "", "empty.md": ""})
    report = notes.run()
    assert counts(report) == {"indexed": 3, "added": 3, "chunks_embedded": 2}
    assert (report.chunks, report.skipped, report.failures) == (2, {"unsupported .zip": 1}, ())
    assert report.complete
    assert notes.found("march") == ["It ends in March."]


def test_an_unchanged_folder_is_not_read_and_no_model_is_loaded(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write(a="one", b="two")
    notes.run()

    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("not to be called")

    monkeypatch.setattr(Path, "open", refuse)
    again = Indexer(
        notes.folder,
        notes.index,
        refuse,  # type: ignore[arg-type]
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        expected_stamp=lambda: notes.embedder.stamp,
        read=refuse,  # type: ignore[arg-type]
    )
    assert counts(again.run()) == {"indexed": 2, "unchanged": 2}


def test_only_changed_passages_are_embedded_again(notes: Notes) -> None:
    long = "word " * 80
    notes.write(a=f"# A\n\n{long}first\n\n# B\n\n{long}second\n")
    notes.run()
    notes.write(a=f"# A\n\n{long}first\n\n# B\n\n{long}other\n")
    report = notes.run()
    assert counts(report) == {"indexed": 1, "updated": 1, "chunks_embedded": 1}
    assert "other" in notes.embedder.texts_embedded[0]
    assert notes.found("second") == []


def test_a_new_time_alone_embeds_nothing(notes: Notes) -> None:
    notes.write(a="one")
    notes.run()
    os.utime(notes.folder / "a.md", ns=(10**18, 10**18))
    assert counts(notes.run()) == {"indexed": 1, "unchanged": 1}
    assert notes.index.sources()["a.md"].modified_ns == 10**18


def test_an_edit_within_the_clock_s_grain_is_seen(notes: Notes) -> None:
    """Same size, same time: only the content tells."""
    write(notes.folder, {"a.md": "words one"})
    notes.run()
    status = (notes.folder / "a.md").stat()
    write(notes.folder, {"a.md": "words two"})
    os.utime(notes.folder / "a.md", ns=(status.st_mtime_ns, status.st_mtime_ns))
    assert counts(notes.run()) == {"indexed": 1, "updated": 1, "chunks_embedded": 1}
    assert notes.found("words") == ["words two"]


def test_a_moved_note_is_cited_at_its_new_place_and_not_embedded_again(notes: Notes) -> None:
    notes.write(a="# Title\n\nwords", b="# Other\n\nthing")
    notes.run()
    (notes.folder / "new").mkdir()
    (notes.folder / "a.md").rename(notes.folder / "new/z.md")
    assert counts(notes.run()) == {"indexed": 2, "moved": 1, "unchanged": 1}
    assert notes.embedder.texts_embedded == []
    snapshot = notes.index.snapshot()
    (chunk,) = snapshot.chunks(snapshot.containing("words", ANYWHERE, 9))
    assert chunk.document == "new/z.md"
    assert notes.index.document_text("a.md") is None


def test_a_move_that_changes_the_header_embeds_only_that(notes: Notes) -> None:
    notes.write(a="words without a heading")
    notes.run()
    (notes.folder / "a.md").rename(notes.folder / "z.md")
    assert counts(notes.run()) == {"indexed": 1, "moved": 1, "chunks_embedded": 1}
    assert notes.index.sources().keys() == {"z.md"}


def test_notes_that_are_numbered_anew_embed_nothing(notes: Notes) -> None:
    notes.write(**{f"n{number}": f"# Chapter {number}\n\nwords {number}" for number in range(6)})
    notes.run()
    for number in reversed(range(6)):
        (notes.folder / f"n{number}.md").rename(notes.folder / f"n{number + 1}.md")
    notes.write(n0="# Preface\n\nwords")
    assert counts(notes.run()) == {"indexed": 7, "added": 1, "updated": 6, "chunks_embedded": 1}


def test_copies_and_swaps_embed_nothing(notes: Notes) -> None:
    notes.write(a="# A\n\nwords", b="# B\n\nthing")
    notes.run()
    shutil.copy(notes.folder / "a.md", notes.folder / "copy.md")
    (notes.folder / "a.md").rename(notes.folder / "tmp")
    (notes.folder / "b.md").rename(notes.folder / "a.md")
    (notes.folder / "tmp").rename(notes.folder / "b.md")
    assert counts(notes.run()) == {"indexed": 3, "added": 1, "updated": 2}


def test_a_deleted_note_is_forgotten(notes: Notes) -> None:
    notes.write(a="one", b="two")
    notes.run()
    (notes.folder / "a.md").unlink()
    assert counts(notes.run()) == {"indexed": 1, "removed": 1, "unchanged": 1}
    assert notes.found("one") == []


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


def test_a_failed_note_is_read_again_only_when_asked(notes: Notes) -> None:
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
    notes.write(a="one", b="two", c="three")

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


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (WordEmbedder(name="X", dimensions=64), r"words \(64 dimensions\), the settings ask for X \(64 dim"),
        (WordEmbedder(name="X", dimensions=32), r"words \(64 dimensions\), the settings ask for X \(32 dim"),
        (WordEmbedder(dimensions=64, window=99), r"window '256', .* window '99'"),
    ],
)
def test_another_model_is_refused_by_name_until_rebuilt(notes: Notes, other: WordEmbedder, said: str) -> None:
    notes.write(a="one", b="two")
    notes.run()
    before = contents(notes.index)
    changed = Notes(notes.folder, notes.index, other)
    with pytest.raises(IndexStale, match=said) as stale:
        changed.run()
    assert stale.value.hint == "ragchat index --rebuild"
    assert contents(notes.index) == before
    report = changed.run(rebuild=True)
    assert counts(report) == {"indexed": 2, "updated": 2, "chunks_embedded": 2}
    assert notes.index.snapshot().stamp.embedder == other.stamp
    assert counts(changed.run()) == {"indexed": 2, "unchanged": 2}


def test_another_chunker_is_refused_until_rebuilt(notes: Notes) -> None:
    notes.write(a="one")
    notes.run()
    other = indexer(notes.folder, notes.index, notes.embedder, chunking=ChunkOptions(size=100))
    with pytest.raises(IndexStale, match=r"the chunker .*size=512.* the chunker .*size=100"):
        other.run()
    assert counts(other.run(rebuild=True)) == {"indexed": 1, "updated": 1, "chunks_embedded": 1}


def test_a_stamp_that_cannot_be_told_is_asked_of_the_embedder(notes: Notes) -> None:
    notes.write(a="one")
    notes.run()
    other = WordEmbedder(name="X", dimensions=64)
    with pytest.raises(IndexStale):
        indexer(notes.folder, notes.index, other, expected_stamp=lambda: None).run()
    notes.write(b="two")
    with pytest.raises(IndexStale):  # told wrongly: found out before anything is embedded
        indexer(notes.folder, notes.index, other, expected_stamp=lambda: notes.embedder.stamp).run()
    assert other.texts_embedded == []


def test_an_interrupted_rebuild_goes_on_where_it_was(notes: Notes) -> None:
    notes.write(**{f"n{number}": f"note {number} " + "word " * 300 for number in range(40)})
    notes.run()
    other = WordEmbedder(name="X", dimensions=64)
    cancel = threading.Event()

    def stop_soon(progress: IndexProgress) -> None:
        if progress.chunks_embedded:
            cancel.set()

    report = indexer(notes.folder, notes.index, other).run(rebuild=True, cancel=cancel, on_progress=stop_soon)
    assert not report.complete
    assert 0 < report.indexed < 40
    assert notes.index.coverage().stale == 40 - report.indexed == report.pending
    after = indexer(notes.folder, notes.index, other).run()
    assert (after.indexed, after.updated, after.complete) == (40, report.pending, True)


def test_a_rebuild_under_the_same_stamp_embeds_everything_again(notes: Notes) -> None:
    notes.write(a="one", b="one")
    notes.run()
    assert counts(notes.run(rebuild=True)) == {"indexed": 2, "updated": 2, "chunks_embedded": 2}


def test_a_new_extractor_reads_only_its_own_documents_again(notes: Notes) -> None:
    notes.write_file("a.md", "one")
    notes.write_file("b.txt", "two")
    notes.run()
    report = Indexer(
        notes.folder,
        notes.index,
        lambda: notes.embedder,
        notes=NotesSettings(),
        chunking=ChunkOptions(),
        extractor_of=lambda name: "text/99" if name.endswith(".txt") else extractor_of(name),
    ).run()
    assert counts(report) == {"indexed": 2, "updated": 1, "unchanged": 1}
    assert notes.index.sources()["b.txt"].extractor == "text/99"


class FailingEmbedder(WordEmbedder):
    """Fails on texts with a certain word, as long as it lasts."""

    def __init__(self, word: str) -> None:
        super().__init__(dimensions=64)
        self.word = word

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.word and any(self.word in text for text in texts):
            raise ConnectionError("connection\nreset")
        return super().embed_passages(texts)


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


def test_a_cancel_is_heard_between_batches_and_nothing_is_half_written(notes: Notes) -> None:
    notes.write(a="one", big="\n\n".join(f"# H{number}\n\nnote {number}" for number in range(10 * BATCH)))
    cancel = threading.Event()
    heard: list[IndexProgress] = []

    def listen(progress: IndexProgress) -> None:
        heard.append(progress)
        if progress.chunks_embedded >= BATCH:
            cancel.set()

    report = indexer(notes.folder, notes.index, notes.embedder).run(cancel=cancel, on_progress=listen)
    assert not report.complete
    assert report.chunks_embedded == BATCH
    assert notes.index.sources().keys() == {"a.md"}
    assert [progress.phase for progress in heard][:2] == ["scanning", "loading model"]
    assert heard[-1].phase == "done"
    assert notes.run().complete


def test_progress_only_ever_grows(notes: Notes) -> None:
    notes.write(**{f"n{number}": "word " * 200 + str(number) for number in range(60)})
    heard: list[IndexProgress] = []
    indexer(notes.folder, notes.index, notes.embedder).run(on_progress=heard.append)
    assert [p.documents_done for p in heard] == sorted(p.documents_done for p in heard)
    assert [p.chunks_embedded for p in heard] == sorted(p.chunks_embedded for p in heard)
    assert (heard[-1].documents_done, heard[-1].documents_total) == (60, 60)
    assert len({p.chunks_embedded for p in heard}) > 3


def test_a_second_indexer_is_told_to_wait(notes: Notes) -> None:
    notes.write(a="one")
    with notes.index.writing(), pytest.raises(IndexLocked):
        notes.run()
    assert counts(notes.run())["added"] == 1


def test_names_that_differ_only_in_case_or_form_are_two_notes(notes: Notes) -> None:
    for name in ("Note.md", "note.md", "caf\u00e9.md", "cafe\u0301.md"):
        notes.write_file(name, f"# T\n\nwords {name}")
    assert notes.run().indexed == 4
    assert counts(notes.run()) == {"indexed": 4, "unchanged": 4}


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
