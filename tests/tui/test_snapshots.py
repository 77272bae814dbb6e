"""Pictures of every screen and empty state: look at them after `pytest --snapshot-update`."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace

import pytest
from _pytest.mark.structures import ParameterSet
from syrupy.assertion import SnapshotAssertion
from textual.widgets import Input, OptionList

from ragchat.answering.events import AnswerEvent, Finished, Retrieved, Thinking
from ragchat.answering.server import InstalledModel
from ragchat.embedding.ollama_pull import PullProgress
from ragchat.errors import FolderMissing, IndexStale
from ragchat.index.progress import IndexProgress, Survey
from tests.tui.fake_workspace import FAILURES, HEALTHY, NO_SERVER, Scene, answer_of
from tests.tui.outcomes import CONTEXT, crowded, saying, used_up
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


async def models(stage: Stage) -> None:
    await stage.opened()
    await stage.pilot.press("ctrl+l")
    await stage.until(lambda: "gemma3:4b" in stage.text(), "the models")
    await stage.pilot.press("down", "down", "enter")
    await stage.until(lambda: "50% of" in stage.text(), "the pull")


async def themes(stage: Stage) -> None:
    await answered(stage)
    await stage.pilot.press("ctrl+t")
    await stage.until(lambda: "catppuccin-mocha" in stage.text(), "the themes")


async def settings(stage: Stage) -> None:
    await stage.opened()
    await stage.pilot.press("f9", "down", "down")
    await stage.pilot.press("enter")
    options = stage.app.screen.query_one(OptionList)
    options.border_subtitle = "~/.config/ragchat/config.toml"
    stage.app.screen.query_one(Input).cursor_blink = False


async def welcome(stage: Stage) -> None:
    await stage.until(lambda: "next: " in stage.text(), "the server")


async def choosing_folder(stage: Stage) -> None:
    await stage.opened()
    await stage.pilot.press("ctrl+o")
    line = stage.app.screen.query_one(Input)
    line.cursor_blink = False
    line.value = "/usr/s"
    options = stage.app.screen.query_one(OptionList)
    await stage.until(lambda: options.option_count > 0, "the folders")
    options.set_options(["/usr/sbin/", "/usr/share/", "/usr/src/"])


async def palette(stage: Stage) -> None:
    await answered(stage)
    await stage.pilot.press("ctrl+p")
    line = stage.app.screen.query_one(Input)
    line.cursor_blink = False
    line.value = "term"
    await stage.until(lambda: "section" in stage.text() and "terminal" in stage.text(), "the rows")


async def jumping(stage: Stage) -> None:
    await answered(stage)
    await stage.pilot.press("f7")
    await stage.until(lambda: bool(stage.app.screen.query(".letter")), "the letters")


async def thought(stage: Stage) -> None:
    await answered(stage)
    await stage.pilot.press("f4")
    await stage.until(lambda: "lease, then" in stage.words(), "the thinking")


def _models() -> Scene:
    def pull(name: str, report: Callable[[PullProgress], None], cancel: threading.Event) -> bool:
        report(PullProgress("pulling abc", 1_650_000_000, 3_300_000_000))
        return not cancel.wait(60)

    thinker = InstalledModel("qwen3:4b", 2_600_000_000, "a" * 12, 40_960, thinks=True)
    health = replace(HEALTHY, models=(thinker, *HEALTHY.models[1:]))
    return Scene(health=health, pull=pull)


def _thought() -> Scene:
    """A server elsewhere, an answer after some thinking, two sources that did not fit."""

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = crowded(question, 2)
        yield Retrieved(trace)
        yield Thinking("The question is about the lease, then about its end. Source 1 says it.")
        context = replace(CONTEXT, sources=2, dropped=2)
        timings = {"total": 9400.0, "thinking": 6200.0}
        yield Finished(
            answer_of(trace, "The lease ends on **31 March 2027** [1].", context=context, timings_ms=timings)
        )

    return Scene(script=script, health=replace(HEALTHY, host="http://10.0.0.7:11434", loopback=False))


def _used_up() -> Scene:
    return Scene(script=saying(used_up, Thinking("on and on")))


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
    "models": (_models, models),
    "themes": (Scene, themes),
    "settings": (Scene, settings),
    "palette": (Scene, palette),
    "jumping": (Scene, jumping),
    "welcome": (lambda: Scene(health=NO_SERVER, model=""), welcome),
    "choosing_folder": (Scene, choosing_folder),
    "thought": (_thought, thought),
    "used_up": (_used_up, answered),
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
    async with on_stage(make(), size=size, theme=theme, welcome=name == "welcome") as stage:
        await act(stage)
        assert await stage.picture() == svg
