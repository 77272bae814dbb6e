"""Stamps, rebuilding, progress, cancelling."""

from __future__ import annotations

import threading

import pytest

from ragchat.chunking.options import ChunkOptions
from ragchat.documents.reader import extractor_of
from ragchat.errors import IndexLocked, IndexStale
from ragchat.index.batches import BATCH
from ragchat.index.indexer import Indexer
from ragchat.index.progress import IndexProgress
from ragchat.settings import NotesSettings
from tests.doubles import WordEmbedder
from tests.index.building import contents, indexer
from tests.index.notes import Notes, counts


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
    assert counts(report) == {"indexed": 2, "added": 2, "chunks_embedded": 2}
    assert notes.index.snapshot().stamp.embedder == other.stamp
    assert counts(changed.run()) == {"indexed": 2, "unchanged": 2}


def test_another_chunker_is_refused_until_rebuilt(notes: Notes) -> None:
    notes.write(a="one")
    notes.run()
    other = indexer(notes.folder, notes.index, notes.embedder, chunking=ChunkOptions(size=100))
    with pytest.raises(IndexStale, match=r"the chunker .*size=512.* the chunker .*size=100"):
        other.run()
    assert counts(other.run(rebuild=True)) == {"indexed": 1, "added": 1, "chunks_embedded": 1}


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
    before = contents(notes.index)
    other = WordEmbedder(name="X", dimensions=64)
    cancel = threading.Event()

    def stop_soon(progress: IndexProgress) -> None:
        if progress.chunks_embedded:
            cancel.set()

    report = indexer(notes.folder, notes.index, other).run(rebuild=True, cancel=cancel, on_progress=stop_soon)
    assert not report.complete
    assert 0 < report.indexed < 40
    assert report.pending == 40 - report.indexed
    assert contents(notes.index) == before  # the old index is used until the new one is whole
    after = indexer(notes.folder, notes.index, other).run()
    assert (after.indexed, after.added, after.complete) == (40, report.pending, True)
    assert notes.index.snapshot().stamp.embedder == other.stamp


def test_a_rebuild_while_the_notes_are_away_keeps_the_old_index(notes: Notes) -> None:
    notes.write(a="one", b="two")
    notes.run()
    before = contents(notes.index)
    for name in ("a.md", "b.md"):
        (notes.folder / name).unlink()
    report = indexer(notes.folder, notes.index, WordEmbedder(name="X", dimensions=64)).run(rebuild=True)
    assert "kept" in report.warning
    assert contents(notes.index) == before


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


def test_a_cancel_is_heard_between_batches_and_nothing_is_half_written(notes: Notes) -> None:
    notes.write(big="\n\n".join(f"# H{number}\n\nnote {number}" for number in range(10 * BATCH)), a="one")
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
    phases = [progress.phase for progress in heard if progress.phase != "reading"]
    assert phases[:2] == ["scanning", "loading model"]
    assert [progress.current for progress in heard if progress.phase == "loading model"] == [""]
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
