"""Every key of the help is pressed in its place, every key of an action, and its effect is seen.

A key that is new in the help fails here until `key_effects` says what it does.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest
from textual.binding import Binding

from ragchat.embedding.ollama_pull import PullProgress
from ragchat.tui import original
from ragchat.tui.app import RagchatApp
from ragchat.tui.keymap import TOPICS, Topic
from ragchat.tui.screens import calibration
from ragchat.tui.screens.welcome import WelcomeScreen
from tests.tui.fake_workspace import FAILURES, Scene
from tests.tui.key_effects import EFFECTS, LEASE, Effect, World
from tests.tui.stage import FOLDER, Stage, on_stage
from tests.tui.test_calibration import ENOUGH, examined

Go = Callable[[Stage], Awaitable[None]]


def documented(topic: Topic) -> Iterator[tuple[str, str]]:
    """Every key that the help has for a place, with its action."""
    for binding in topic.bindings:
        assert isinstance(binding, Binding)
        own = binding.id is None or binding.id.startswith(f"{topic.place}.")
        if own and (binding.tooltip or binding.description or "open_source" in binding.action):
            for key in binding.key.split(","):
                yield binding.id or binding.action, key


async def home(stage: Stage) -> None:
    """The main screen as it was: two answers, an empty prompt with the focus, no message."""
    app = stage.app
    while app.screen is not app.chat:
        await app.pop_screen()
    app.chat.remove_class("sources-hidden")
    app.chat.end_zoom()
    await stage.until(
        lambda: not stage.indexing and not (app.session and app.session.questions.asking), "quiet"
    )
    if [turn.question for turn in app.chat.conversation.turns] != [LEASE, LEASE]:
        await stage.pilot.press("ctrl+n")
        await stage.until(lambda: not app.chat.conversation.turns, "a new conversation")
        await stage.ask(LEASE)
        await stage.ask(LEASE)
    app.chat._leaving = False
    app.chat.prompt.put("")
    app.chat.prompt._at = len(app.chat.prompt._history)
    app.chat.prompt.focus()
    app.chat.conversation.scroll_end(animate=False)
    app.clear_notifications()
    stage.workspace.updates[1:] = []
    stage.workspace.followed.clear()
    await stage.pilot.pause()


async def in_conversation(stage: Stage) -> None:
    stage.app.chat.conversation.focus()
    await stage.pilot.press("down", "down")


async def in_sources(stage: Stage) -> None:
    stage.app.chat.sources.focus()
    await stage.pilot.press("up", "up", "up")


def _left(stage: Stage, screen: object) -> bool:
    return stage.app.screen is not screen


def by(*keys: str, until: str = "") -> Go:
    """A place that keys lead to from the main screen."""

    async def go(stage: Stage) -> None:
        for key in keys:
            before = stage.app.screen
            await stage.pilot.press(key)
            await stage.until(partial(_left, stage, before), key)
        await stage.until(lambda: until in stage.text(), until)

    return go


async def stay(_stage: Stage) -> None:
    """It is there from the start."""


PLACES: dict[str, Go] = {
    "chat": stay,
    "app": stay,
    "move": by("ctrl+l", until="gemma3:4b"),
    "prompt": stay,
    "pane": in_conversation,
    "conversation": in_conversation,
    "sources": in_sources,
    "viewer": by("alt+1", until="✓ exact"),
    "facts": by("alt+1", "i", until="no longer there"),
    "inspector": by("ctrl+e", until="Candidates by"),
    "prompt_page": by("ctrl+e", "p", until="Would be sent"),
    "calibration": by("f6", until="threshold 0.520"),
    "index": by("f3", until="3 indexed"),
    "list": by("ctrl+t"),
    "palette": by("ctrl+p"),
    "jump": by("f7"),
    "folder": by("ctrl+o"),
    "settings": by("f9"),
    "models": by("ctrl+l", until="gemma3:4b"),
    "conversations": by("f5", until=LEASE),
    "help": by("f1"),
    "remap": by("f1", "f2"),
}
LOW = (120, 22)
"""So low that two answers have to be scrolled."""


async def in_confirm(stage: Stage) -> None:
    await in_conversation(stage)
    await by("d")(stage)


PLACES["confirm"] = in_confirm


def _half_pulled(name: str, report: Callable[[PullProgress], None], cancel: threading.Event) -> bool:
    report(PullProgress("pulling abc", 50, 100))
    return not cancel.wait(30)


@asynccontextmanager
async def world_of(
    topic: Topic, copied: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[World]:
    monkeypatch.setattr(calibration, "examine_folder", lambda *_: examined(ENOUGH))
    scene = Scene(failures=FAILURES, pull=_half_pulled)
    folder = folder if topic.place == "index" else FOLDER  # what is ignored is written there
    async with on_stage(scene, size=LOW, folder=folder, welcome=topic.place == "welcome") as stage:
        world = World(stage, copied)

        def open_it(path: Path, _locator: str) -> str:
            world.opened.append(str(path))
            return "opened"

        monkeypatch.setattr(original, "open_original", open_it)
        monkeypatch.setattr(RagchatApp, "exit", lambda *_: world.left.append(1))
        yield world


async def does(world: World, effect: Effect, key: str) -> str:
    """Press it; "" where the effect is seen after it and was not before, else what is wrong."""
    stage = world.stage
    for each in effect.before:
        await stage.pilot.press(each)
    await stage.until(lambda: effect.ready in stage.text(), effect.ready)
    world.copied.clear()
    if effect.seen(world):
        return "seen before it was pressed"
    await stage.pilot.press(key)
    try:
        await stage.until(lambda: effect.seen(world), "the effect", seconds=8)
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("topic", TOPICS, ids=[topic.place for topic in TOPICS])
async def test_every_key_of_the_help_does_what_it_says(
    topic: Topic, clipboard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    effects, wrong = EFFECTS[topic.place], []
    async with world_of(topic, clipboard, tmp_path, monkeypatch) as world:
        stage, app = world.stage, world.stage.app
        place: tuple[object, object] = (None, None)

        async def go_there() -> None:
            nonlocal place
            if topic.place == "welcome":
                await stage.until(lambda: isinstance(app.screen, WelcomeScreen), "the welcome")
            else:
                await home(stage)
                await PLACES[topic.place](stage)
            place = app.screen, app.focused

        if topic.place != "welcome":
            await stage.opened()
        for action, key in documented(topic):
            fresh = place != (app.screen, app.focused)
            if fresh:
                await go_there()
            app.clear_notifications()
            told = await does(world, effects[action], key)
            if told and not fresh:  # what the key before left behind
                await go_there()
                told = await does(world, effects[action], key)
            if told:
                wrong.append(f"{action} by {key}: {told}")
    assert not wrong, "\n".join(wrong)


def test_nothing_is_said_of_keys_that_there_are_not() -> None:
    there = {topic.place: {action for action, _ in documented(topic)} for topic in TOPICS}
    assert {place: set(effects) for place, effects in EFFECTS.items()} == there
