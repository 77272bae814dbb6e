"""What happens to folders and machines: nothing is lost, nothing is missed, nothing hangs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragchat.documents.reader import extractor_of, supported
from ragchat.index.plan import plan_update
from ragchat.index.scan import scan
from ragchat.index.source import Source
from ragchat.index.store import open_index
from ragchat.settings import NotesSettings
from tests.doubles import WordEmbedder
from tests.index.building import contents, indexer
from tests.index.notes import Notes, counts


def test_an_edit_of_the_same_size_whose_time_was_put_back_is_seen(notes: Notes) -> None:
    """As synchronising and restoring tools do."""
    notes.write(a="the cat", b="the dog")
    notes.run()
    path = notes.folder / "a.md"
    before = path.stat()
    path.write_text("the cow")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert counts(notes.run())["updated"] == 1
    assert notes.found("cow") == ["the cow"]


@pytest.mark.parametrize("step", [-3600, 3600, -10 * 365 * 86_400])
def test_a_clock_that_jumps_hides_no_edit(notes: Notes, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    real = time.time_ns
    notes.write(a="one", b="two")
    notes.run()
    monkeypatch.setattr(time, "time_ns", lambda: real() + step * 10**9)
    for words in ("three", "seven", "eight"):  # of one length
        path = notes.folder / "a.md"
        path.write_text(words)
        os.utime(path, ns=(time.time_ns(), time.time_ns()))
        assert counts(notes.run()).get("updated") == 1, words
        assert notes.found(words) == [words]
    assert counts(notes.run()) == {"indexed": 2, "unchanged": 2}


def test_a_line_of_three_megabytes_is_found_by_its_last_word(notes: Notes) -> None:
    notes.write(a="word " * 600_000 + "walrus", b="two")
    report = notes.run()
    assert (report.complete, report.indexed, report.failures) == (True, 2, ())
    assert [words.endswith("walrus") for words in notes.found("walrus")] == [True]


def test_ten_thousand_files_in_one_folder_are_all_seen_and_known_again(tmp_path: Path) -> None:
    for number in range(10_000):
        (tmp_path / f"{number}.md").touch()
    found = scan(tmp_path, NotesSettings(), supported)
    assert len(found.notes) == 10_000
    later = time.time_ns() + 3600 * 10**9
    known = {
        note.name: Source(
            note.name, note.size, note.modified_ns, "", extractor_of(note.name), "indexed", later
        )
        for note in found.notes
    }
    plan = plan_update(found, known, extractor_of, retry=False)
    assert (plan.read, plan.check, plan.gone, plan.unchanged) == ([], [], [], 10_000)


def test_names_in_other_bytes_and_twins_are_no_trouble(notes: Notes) -> None:
    try:
        (notes.folder / os.fsdecode(b"caf\xe9.md")).write_text("latin")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    for name, words in {
        "a.md": "one",
        "A.md": "two",
        "caf\u00e9.md": "three",
        "cafe\u0301.md": "four",
    }.items():
        notes.write_file(name, words)
    report = notes.run()
    assert (report.indexed, report.skipped["name is not UTF-8"]) == (4, 1)
    (notes.folder / "A.md").unlink()
    (notes.folder / "cafe\u0301.md").unlink()
    assert counts(notes.run())["removed"] == 2
    assert notes.index.sources().keys() == {"a.md", "caf\u00e9.md"}


_ANOTHER = """
import sys
from pathlib import Path
from ragchat.errors import IndexLocked
from ragchat.index.store import open_index
from tests.doubles import WordEmbedder
from tests.index.building import indexer

index = open_index(Path(sys.argv[2]))
for _ in range(20):
    try:
        indexer(Path(sys.argv[1]), index, WordEmbedder(dimensions=64)).run(rebuild=True)
    except IndexLocked:
        pass
"""


def test_two_processes_on_one_folder_leave_one_true_index(notes: Notes, tmp_path: Path) -> None:
    notes.write(**{f"n{number}": f"# Part\n\nnote {number}" for number in range(20)})
    data = tmp_path / "shared"
    command = [sys.executable, "-c", _ANOTHER, str(notes.folder), str(data)]
    processes = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    index, fresh = open_index(data), open_index(tmp_path / "fresh")
    for each in (index, fresh):
        assert indexer(notes.folder, each, WordEmbedder(dimensions=64)).run().complete
    assert contents(index) == contents(fresh)
    index.close()
    fresh.close()
