"""The index view: documents by state, progress with rate and time left, retry, stop, ignore and back."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ragchat.index.progress import IndexProgress
from ragchat.index.source import Source
from ragchat.settings import Settings
from ragchat.tui.pace import Pace, duration
from ragchat.tui.screens.index_view import IndexScreen
from ragchat.tui.shelved import Shelved, counted, shelve
from ragchat.tui.widgets.shelf_list import ShelfList
from tests.tui.fake_workspace import FAILURES, FakeWorkspace, Scene
from tests.tui.stage import NARROW, Stage, on_stage


async def viewing(stage: Stage) -> IndexScreen:
    await stage.opened()
    await stage.pilot.press("f3")
    await stage.until(
        lambda: "indexed" in stage.text() and "reading the index" not in stage.text(), "the list"
    )
    assert isinstance(stage.app.screen, IndexScreen)
    return stage.app.screen


def test_documents_come_by_state_and_the_counts_agree() -> None:
    from ragchat.settings import Settings

    names = ["a.md", "b.md", "c.md", "d.md"]
    sources = {
        name: Source(name, 1, 1, "d", "markdown/2", "failed" if name == "d.md" else "indexed")
        for name in names
    }
    status = FakeWorkspace(Path("/n"), Settings(), Scene(failures=FAILURES[:1])).status()
    status = replace(status, outdated=frozenset({"c.md"}), gaps={"b.md": ("page 2: no text",)})
    rows = shelve(status, sources)
    assert [(row.standing, row.name) for row in rows] == [
        ("failed", "scans/receipt.md"),
        ("in part", "b.md"),
        ("stale", "c.md"),
        ("skipped", ""),
        ("skipped", ""),
        ("indexed", "a.md"),
    ]
    assert counted(rows, 4) == "1 indexed · 1 failed · 1 in part · 1 stale · 4 skipped"
    everything = shelve(replace(status, made_otherwise=True), sources)
    assert {row.standing for row in everything if row.name != "scans/receipt.md" and row.name} == {"stale"}


def test_the_pace_is_that_of_the_last_half_minute() -> None:
    pace = Pace()
    assert pace.rate() is None
    for second in range(100):
        done = second * 10 if second < 50 else 500 + (second - 50) * 2  # ten a second, then two
        pace.note(IndexProgress("indexing", done, 1000, done * 8), float(second))
    rate = pace.rate()
    assert rate is not None
    assert (rate.documents, rate.chunks) == (2.0, 16.0)
    assert rate.left == (1000 - 598) / 2
    pace.note(IndexProgress("calibrating"), 100.0)
    assert pace.rate() is None
    pace.end()
    assert pace.progress is None


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0.2, "1 s"), (59, "59 s"), (90, "2 min"), (3600, "1 h 0 min"), (4800, "1 h 20 min")],
)
def test_durations_are_said_as_a_person_would(seconds: float, told: str) -> None:
    assert duration(seconds) == told


async def test_states_find_and_copy(clipboard: list[str]) -> None:
    async with on_stage(Scene(failures=FAILURES), size=NARROW) as stage:
        await viewing(stage)
        stage.app.clear_notifications()
        await stage.until(lambda: not stage.app.screen.query("Toast"), "nothing over the hint")
        text = stage.text()
        assert "3 indexed · 2 failed · 4 skipped" in text
        assert "3 files: hidden" in text
        assert "save it as UTF-8" in text  # the hint of the first failed one
        await stage.pilot.press("down", "y")
        assert clipboard[-1] == "/home/ada/notes/scans/receipt.md"
        await stage.pilot.press("s")
        assert "Documents · failed" in stage.text()
        assert "house/lease.md" not in stage.text()
        await stage.pilot.press("s")
        assert "Documents · skipped" in stage.text()
        await stage.pilot.press("s", "s")
        assert "Documents · all" in stage.text()
        await stage.pilot.press("slash", *"mail")
        await stage.until(lambda: "1 of 1" in stage.text(), "the filter")
        await stage.pilot.press("escape")
        await stage.until(lambda: "of 7" in stage.text(), "all of them")


async def test_failed_documents_are_read_again() -> None:
    async with on_stage(Scene(failures=FAILURES)) as stage:
        await viewing(stage)
        await stage.pilot.press("r")
        await stage.until(lambda: (False, True) in stage.workspace.updates, "the retry")


async def test_progress_is_told_and_stopping_keeps_the_index() -> None:
    step = IndexProgress("indexing", 12, 412, 80, 0, 1, "house/lease.md")
    async with on_stage(Scene(steps=(step,), hold=threading.Event())) as stage:
        await stage.until(lambda: "12 of 412" in stage.text(), "progress")
        await stage.pilot.press("f3")
        await stage.until(lambda: "indexing 12 of 412" in stage.text(), "progress in the view")
        await stage.pilot.press("r")
        await stage.until(lambda: "Already indexing" in stage.words("Toast"), "the word")
        await stage.pilot.press("x")
        await stage.until(lambda: "up to date" in stage.text(), "the stop")
        assert "3 indexed" in stage.text()
        await stage.pilot.press("x")
        await stage.until(lambda: "Nothing is being indexed" in stage.words("Toast"), "the word")


async def test_a_document_is_ignored_and_taken_back(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    async with on_stage(Scene(failures=FAILURES), folder=folder) as stage:
        await viewing(stage)
        before = len(stage.workspace.updates)
        await stage.pilot.press("i")
        await stage.until(lambda: "a line in .ragchatignore" in stage.words("Toast"), "the word")
        assert (folder / ".ragchatignore").read_text() == "/old/notes.txt\n"
        await stage.until(lambda: len(stage.workspace.updates) > before, "indexing")
        await stage.pilot.press("u")
        await stage.until(lambda: "is read again" in stage.words("Toast"), "the word")
        assert not (folder / ".ragchatignore").exists()
        await stage.pilot.press("u")
        await stage.until(lambda: "Nothing to take back" in stage.words("Toast"), "the word")


async def test_enter_opens_the_file_or_says_why_not() -> None:
    async with on_stage(Scene(failures=FAILURES)) as stage:
        await viewing(stage)
        await stage.pilot.press("enter")
        await stage.until(lambda: "cannot be opened" in stage.words("Toast"), "the word")


async def test_a_long_name_is_whole_where_what_stands_behind_it_can_be_cut() -> None:
    name = "project/meetings/2025-11-18-minutes-board.md"
    row = Shelved("indexed", name, "markdown · 2025-11-18")
    async with on_stage(Scene(failures=FAILURES), size=NARROW) as stage:
        screen = await viewing(stage)
        screen.query_one(ShelfList).show([row, *screen._rows])
        await stage.pilot.pause()
        assert f"{name}  markdown" in stage.text()


def test_the_words_behind_a_name_are_explained() -> None:
    source = Source("a.md", 1, 1, "d", "markdown/3", "indexed", dated="2026-03-01")
    status = FakeWorkspace(Path("/n"), Settings(), Scene()).status()
    (row,) = (each for each in shelve(status, {"a.md": source}) if each.name)
    assert row.told == "markdown · 2026-03-01"
    assert row.hint == (
        "Read as markdown, by version 3 of its reader."
        " 2026-03-01 is its date, for the filters after: and before:."
    )
