"""Pictures of every screen and empty state: look at them after `pytest --snapshot-update`."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable

import pytest
from _pytest.mark.structures import ParameterSet
from syrupy.assertion import SnapshotAssertion

from ragchat.errors import FolderMissing, IndexStale
from ragchat.index.progress import IndexProgress, Survey
from tests.tui.fake_workspace import FAILURES, NO_SERVER, Scene
from tests.tui.stage import NARROW, WIDE, Stage, on_stage

LOOKS = [
    pytest.param(NARROW, "ragchat-dark", id="80x24-dark"),
    pytest.param(NARROW, "ragchat-light", id="80x24-light"),
    pytest.param(WIDE, "ragchat-dark", id="120x36-dark"),
    pytest.param(WIDE, "ragchat-light", id="120x36-light"),
]
Act = Callable[[Stage], Awaitable[None]]


async def opened(stage: Stage) -> None:
    await stage.opened()


async def answered(stage: Stage) -> None:
    await stage.opened()
    await stage.ask("When does the lease end?")


async def refused(stage: Stage) -> None:
    await stage.opened()
    await stage.ask("What does error E1234 mean?")


async def viewer(stage: Stage) -> None:
    await answered(stage)
    await stage.pilot.press("alt+1")
    await stage.until(lambda: "exact" in stage.text(), "the document")


async def inspector(stage: Stage) -> None:
    await answered(stage)
    await stage.pilot.press("ctrl+e")


async def sources_focused(stage: Stage) -> None:
    await answered(stage)
    await stage.pilot.press("shift+tab")


async def failed_documents(stage: Stage) -> None:
    await stage.opened()
    await stage.until(lambda: not stage.app.session or not stage.app.session.indexing)
    await stage.pilot.press("f3")


async def help_page(stage: Stage) -> None:
    await stage.opened()
    await stage.pilot.press("f1")


async def indexing(stage: Stage) -> None:
    await stage.until(lambda: "12 of 412" in stage.text(), "progress")
    await stage.until(lambda: "ready" in stage.text(), "the server")


async def asked_first(stage: Stage) -> None:
    await stage.until(lambda: "Index this folder?" in stage.text(), "the question")
    await stage.until(lambda: "ready" in stage.text(), "the server")


async def stale(stage: Stage) -> None:
    await stage.until(lambda: "ctrl+r rebuilds" in stage.text(), "the banner")
    await stage.until(lambda: "ready" in stage.text(), "the server")


async def missing(stage: Stage) -> None:
    await stage.until(lambda: "no folder" in stage.text(), "the word")


def _first_indexing() -> Scene:
    step = IndexProgress("indexing", 12, 412, 80, 0, 1, "house/lease.md")
    return Scene(indexed=0, chunks=0, steps=(step,), hold=threading.Event())


def _home_folder() -> Scene:
    survey = Survey(120_345, 7_200_000_000, {"hidden": 400}, confirm="this is your home folder")
    return Scene(indexed=0, chunks=0, survey=survey)


def _stale() -> Scene:
    error = IndexStale("this index was made by all-MiniLM-L6-v2, you asked for bge-m3", hint="ragchat index")
    return Scene(index_error=error)


SCENES: dict[str, tuple[Callable[[], Scene], Act]] = {
    "empty": (Scene, opened),
    "answered": (Scene, answered),
    "refused": (Scene, refused),
    "viewer": (Scene, viewer),
    "inspector": (Scene, inspector),
    "sources_focused": (Scene, sources_focused),
    "failed_documents": (lambda: Scene(failures=FAILURES), failed_documents),
    "help": (Scene, help_page),
    "indexing": (_first_indexing, indexing),
    "no_server": (lambda: Scene(health=NO_SERVER, model=""), opened),
    "no_notes": (lambda: Scene(indexed=0, chunks=0), opened),
    "asked_first": (_home_folder, asked_first),
    "stale": (_stale, stale),
    "folder_missing": (lambda: Scene(open_error=FolderMissing("there is no folder ~/notes")), missing),
}


OFTEN_SEEN = (
    "empty",
    "answered",
    "refused",
    "viewer",
    "inspector",
    "failed_documents",
    "help",
    "indexing",
    "no_server",
)
"""In both sizes and both themes; the others in one of each."""


def _looks() -> list[ParameterSet]:
    return [
        pytest.param(name, *look.values, id=f"{name}-{look.id}")
        for name in SCENES
        for look in (LOOKS if name in OFTEN_SEEN else (LOOKS[0], LOOKS[3]))
    ]


@pytest.mark.parametrize(("name", "size", "theme"), _looks())
async def test_screen_looks_as_agreed(
    name: str, size: tuple[int, int], theme: str, svg: SnapshotAssertion
) -> None:
    make, act = SCENES[name]
    async with on_stage(make(), size=size, theme=theme) as stage:
        await act(stage)
        assert await stage.picture() == svg
