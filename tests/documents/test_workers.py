"""Reading in a process of its own: whatever happens there, one file fails and the others are read."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragchat.documents import reader
from ragchat.documents.document import Block, Document, FailedDocument, Locator, Section, Span
from ragchat.documents.reader import open_reader, parse_document
from ragchat.documents.wire import packed, unpacked
from ragchat.documents.workers import Limits, WorkerPool
from ragchat.settings import NotesSettings

MISCHIEF = """
import os, subprocess, sys, time
from ragchat.documents.document import FailedDocument

def parse(data, name, digest, reading):
    exec(data.decode())
    return FailedDocument(name, f"read {name}", "", digest, str(os.getpid()))
"""


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerPool]:
    """Whose reader runs what stands in the file."""
    package = tmp_path / "mischief.py"
    package.write_text(MISCHIEF)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    pool = WorkerPool(Limits(seconds=1.5, memory_mb=400))
    yield pool
    pool.close()


def ask(pool: WorkerPool, code: str, name: str = "a.pdf") -> FailedDocument:
    result = pool.parse("mischief", "mischief/1", code.encode(), name, "d1")
    assert isinstance(result, FailedDocument)
    assert (result.name, result.digest) == (name, "d1")
    return result


def test_one_process_reads_many_files(pool: WorkerPool) -> None:
    first, second = ask(pool, "pass", "a.pdf"), ask(pool, "pass", "ü\n.pdf")
    assert (first.reason, second.reason) == ("read a.pdf", "read ü\n.pdf")
    assert first.extractor == second.extractor != str(os.getpid())


def test_a_reader_that_hangs_is_stopped_and_the_next_file_is_read(pool: WorkerPool) -> None:
    ask(pool, "pass")
    failed = ask(pool, "while True: pass")
    assert "1.5 seconds were not enough" in failed.reason
    assert "notes.reader_seconds" in failed.hint
    assert ask(pool, "pass").reason == "read a.pdf"


def test_a_reader_that_is_heard_of_gets_its_time_anew(pool: WorkerPool) -> None:
    assert ask(pool, "for _ in range(4): time.sleep(0.6); reading.progressed()").reason == "read a.pdf"


def test_what_a_stopped_reader_started_is_stopped_too(pool: WorkerPool, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    ask(pool, f"subprocess.Popen(['sleep', '60.25']); open({str(mark)!r}, 'w').write('x'); time.sleep(60)")
    assert mark.exists()
    for _ in range(200):  # it is killed, but not by its own parent: that takes the system a moment
        commands = {_readable(path) for path in Path("/proc").glob("[0-9]*/cmdline")}
        if b"sleep\x0060.25\0" not in commands:
            return
        time.sleep(0.05)
    raise AssertionError("it goes on")


def _readable(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("code", ["os._exit(3)", "os.kill(os.getpid(), 11)"])
def test_a_reader_that_dies_takes_no_other_file_along(pool: WorkerPool, code: str) -> None:
    ask(pool, "pass")
    failed = ask(pool, code)
    assert "its reader crashed on it" in failed.reason
    assert ask(pool, "pass").reason == "read a.pdf"


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="only Linux keeps to this limit")
def test_memory_is_limited(pool: WorkerPool) -> None:
    assert "more than 400 MB" in ask(pool, "x = bytearray(10**9)").reason
    assert ask(pool, "pass").reason == "read a.pdf"


def test_a_process_worn_out_by_the_file_before_is_changed(pool: WorkerPool, tmp_path: Path) -> None:
    ask(pool, "sys.worn_out = True")
    assert ask(pool, "if getattr(sys, 'worn_out', 0): os._exit(1)").reason == "read a.pdf"


def test_an_exception_and_what_is_printed_stay_inside(pool: WorkerPool) -> None:
    failed = ask(pool, "print('x' * 99); raise ValueError('no\\nsuch thing')")
    assert "ValueError: no such thing" in failed.reason
    assert "nested too deep" in ask(pool, "f = lambda g: g(g); f(f)").reason
    assert ask(pool, "os.write(1, b'noise' * 99)").reason == "read a.pdf"


def test_a_notes_folder_lends_no_modules_to_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('code of the notes was run')")
    (tmp_path / "a.html").write_text("<h1>Lease</h1><p>It ends in March.")
    monkeypatch.chdir(tmp_path)
    with open_reader(NotesSettings()) as read:
        document = read(tmp_path / "a.html", "a.html", max_bytes=10**6)
    assert isinstance(document, Document)
    assert document == parse_document((tmp_path / "a.html").read_bytes(), "a.html")


def test_a_run_over_text_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("no process was needed")

    monkeypatch.setattr(reader, "_pool", refuse)
    (tmp_path / "a.md").write_text("words")
    with open_reader(NotesSettings()) as read:
        assert isinstance(read(tmp_path / "a.md", "a.md", max_bytes=10**6), Document)


def test_nothing_runs_after_the_reader_is_closed(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>words")
    with open_reader(NotesSettings()) as read:
        read(tmp_path / "a.html", "a.html", max_bytes=10**6)
    time.sleep(0.05)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if children.exists():
        names = [Path(f"/proc/{child}/cmdline") for child in children.read_text().split()]
        assert not [name for name in names if b"documents.worker" in _readable(name)]


def test_documents_survive_the_way_between_processes() -> None:
    document = Document(
        name="a",
        title="日本 \ud83d",
        text="e\u0301 words",
        encoding="",
        sections=(Section(("A", "B"), 0, 7, 1),),
        blocks=(Block("table", 0, 7, Span(0, 2), Span(3, 4)), Block("code", 7, 8)),
        silent=(Span(1, 2),),
        excluded=(Span(2, 3),),
        locators=(Locator("page", "12", 0, 7),),
        extractor="x/1",
        digest="d",
        stored=True,
        gaps=("page 3: blurred",),
    )
    assert unpacked(packed(document), "a", "d") == document
    failed = FailedDocument("a", "broken", "mend it", "d", "x/1")
    assert unpacked(packed(failed), "a", "d") == failed
