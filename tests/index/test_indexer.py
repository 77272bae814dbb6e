from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ragchat.chunking.options import ChunkOptions
from ragchat.index import plan
from ragchat.index.indexer import Indexer
from ragchat.settings import NotesSettings
from tests.index.building import write
from tests.index.contract import ANYWHERE
from tests.index.notes import Notes, counts


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
    monkeypatch.setattr(plan, "RACY_NS", 0)  # the notes were written a moment ago
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


def test_names_that_differ_only_in_case_or_form_are_two_notes(notes: Notes) -> None:
    for name in ("Note.md", "note.md", "caf\u00e9.md", "cafe\u0301.md"):
        notes.write_file(name, f"# T\n\nwords {name}")
    assert notes.run().indexed == 4
    assert counts(notes.run()) == {"indexed": 4, "unchanged": 4}


def test_token_vectors_are_indexed_and_outlive_edits_and_moves(notes: Notes) -> None:
    notes.write(a="# A\n\none two\n\n# B\n\nthree", b="# C\n\nfour")
    notes.run()
    notes.write(a="# A\n\none two\n\n# B\n\nfive")
    (notes.folder / "b.md").rename(notes.folder / "c.md")
    assert notes.run().chunks_embedded == 1
    snapshot = notes.index.snapshot()
    ids = [snapshot.containing(word, ANYWHERE, 9)[0] for word in ("two", "five", "four")]
    tokens = snapshot.token_vectors(ids)
    assert tokens is not None
    texts = [chunk.text for chunk in snapshot.chunks(ids)]
    wanted = notes.embedder.embed_passages_with_tokens(texts)[1]
    assert [rows.tobytes() for rows in tokens] == [wanted.rows(at).tobytes() for at in range(3)]
