"""Changes in a folder are told when they are at rest; what is no note, or not whole yet, is left alone."""

from __future__ import annotations

import os
import queue
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from ragchat.documents.reader import supported
from ragchat.index import watch
from ragchat.index.watch import remote_file_system, watch_folder
from ragchat.settings import NotesSettings

PATIENCE = 20.0


class Watched:
    """A folder that is being watched, and what was told: "stir", "change", or why it is looked through."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told: queue.Queue[str] = queue.Queue()
        self.stop = threading.Event()
        self.sizes: list[int] = []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        watch_folder(
            self.folder,
            NotesSettings(),
            supported,
            self.stop,
            on_stir=lambda: self.told.put("stir"),
            on_change=self._change,
            on_poll=self.told.put,
        )

    def _change(self) -> None:
        growing = self.folder / "growing.md"
        self.sizes.append(growing.stat().st_size if growing.exists() else 0)
        self.told.put("change")

    def next(self) -> str:
        return self.told.get(timeout=PATIENCE)

    def until_change(self) -> None:
        while self.next() != "change":
            pass

    def settle(self) -> None:
        """Until a sentinel of our own was told, and nothing is left to tell of what came before."""
        (self.folder / "sentinel.md").write_text(str(time.time_ns()))
        self.until_change()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    (tmp_path / "notes" / "house").mkdir(parents=True)
    (tmp_path / "notes" / "house" / "lease.md").write_text("one")
    watching = Watched(tmp_path / "notes")
    # The watch begins at some moment: write until it tells.
    deadline = time.monotonic() + PATIENCE
    while watching.told.empty():
        assert time.monotonic() < deadline
        (watching.folder / "begin.md").write_text(str(time.time_ns()))
        time.sleep(0.05)
    watching.until_change()
    watching.settle()
    yield watching
    watching.stop.set()
    watching.thread.join(PATIENCE)
    assert not watching.thread.is_alive()


@pytest.fixture
def data_among_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "notes" / "ragchat"
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(folder))
    return folder


def test_what_ragchat_writes_is_no_change(data_among_notes: Path, watched: Watched) -> None:
    """Else each update of the index would be followed by another one."""
    kept = data_among_notes / "folders" / "0123"
    kept.mkdir(parents=True)
    (kept / "conversation.jsonl").write_text("{}")
    journal = kept / "index.sqlite3-journal"
    journal.write_text("x")
    journal.unlink()
    time.sleep(3 * watch.REST_SECONDS)
    assert watched.told.empty()
    watched.settle()


def _edit(folder: Path) -> None:
    (folder / "house" / "lease.md").write_text("two")


def _replace_as_editors_do(folder: Path) -> None:
    (folder / "house" / ".lease.md.swp").write_text("swap")
    (folder / "house" / "lease.md.tmp").write_text("two")
    (folder / "house" / "lease.md.tmp").replace(folder / "house" / "lease.md")


def _delete(folder: Path) -> None:
    (folder / "house" / "lease.md").unlink()


def _move_folder(folder: Path) -> None:
    (folder / "house").rename(folder / "home.v2")


def _move_away(folder: Path) -> None:
    shutil.move(folder / "house", folder.parent / "elsewhere")


def _ignore(folder: Path) -> None:
    (folder / ".ragchatignore").write_text("house/\n")


@pytest.mark.parametrize(
    "change",
    [_edit, _replace_as_editors_do, _delete, _move_folder, _move_away, _ignore],
    ids=lambda f: f.__name__,
)
def test_a_change_is_told_as_soon_as_it_is_at_rest(watched: Watched, change: Any) -> None:
    change(watched.folder)
    assert watched.next() == "stir"
    assert watched.next() == "change"


def test_what_editors_leave_beside_a_note_is_no_change(watched: Watched) -> None:
    for name in (
        "house/.lease.md.swp",
        "house/lease.md~",
        "#lease.md#",
        ".#lease.md",
        "~$lease.md",
        "x.part",
    ):
        (watched.folder / name).write_text("not a note")
    (watched.folder / ".git").mkdir()
    (watched.folder / ".git" / "index.md").write_text("not a note")
    time.sleep(3 * watch.REST_SECONDS)
    assert watched.told.empty()


def test_a_file_that_is_being_written_is_left_alone_until_it_is_whole(watched: Watched) -> None:
    with (watched.folder / "growing.md").open("w") as file:
        for _ in range(12):
            file.write("half a sentence, ")
            file.flush()
            time.sleep(watch.REST_SECONDS / 4)
    watched.until_change()
    assert watched.sizes[-1] == 12 * len("half a sentence, ")


def test_a_folder_that_was_taken_away_is_watched_again_when_it_is_back(watched: Watched) -> None:
    away = watched.folder.with_name("away")
    watched.folder.rename(away)
    watched.until_change()
    away.rename(watched.folder)
    watched.until_change()
    deadline = time.monotonic() + PATIENCE
    while watched.told.empty():
        assert time.monotonic() < deadline
        _edit(watched.folder)
        time.sleep(0.05)


def test_where_nothing_more_can_be_watched_the_folder_is_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "OS file watch limit reached.")

    monkeypatch.setattr(watchfiles, "watch", full)
    monkeypatch.setattr(watch, "_LOOK_AGAIN_SECONDS", 0.05)
    (tmp_path / "a.md").write_text("one")
    watching = Watched(tmp_path)
    assert "inotify" in watching.next()
    time.sleep(0.2)
    assert watching.told.empty()
    (tmp_path / "a.md").write_text("one and more")
    assert watching.next() == "change"
    (tmp_path / "a.md").unlink()
    assert watching.next() == "change"
    watching.stop.set()
    watching.thread.join(PATIENCE)
    assert not watching.thread.is_alive()


@pytest.mark.parametrize(
    ("mounts", "remote"),
    [
        ("/dev/sda1 / ext4 rw 0 0\nserver:/x {} nfs4 rw 0 0\n", True),
        ("/dev/sda1 / ext4 rw 0 0\nme@host:/x {} fuse.sshfs rw 0 0\n", True),
        ("server:/x / nfs rw 0 0\n/dev/sdb1 {} xfs rw 0 0\n", False),
        ("/dev/sda1 / ext4 rw 0 0\nserver:/y {}-other nfs rw 0 0\n", False),
        ("damaged\n", False),
    ],
)
def test_another_machines_file_system_is_not_trusted_to_tell(
    tmp_path: Path, mounts: str, remote: bool
) -> None:
    table = tmp_path / "mounts"
    table.write_text(mounts.format(os.path.realpath(tmp_path).replace(" ", "\\040")))
    assert bool(remote_file_system(tmp_path / "notes", table)) == remote
