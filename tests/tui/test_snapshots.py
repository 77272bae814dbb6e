"""Pictures of every screen and empty state in two sizes and three themes.

Look at them after `pytest --snapshot-update` (python -m tests.tui.sheets makes contact sheets of them).
A walk is one start of the program; at each stop the theme is changed under the running screen, so that a
part that keeps the colours of the theme before is a fault which the pictures show.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.screen import Screen

from ragchat.answering.turn import Outcome
from ragchat.answering.verification import Standing
from ragchat.tui import empty, screens
from ragchat.tui.screens import chat
from tests.tui.pictures import main_screen, pages
from tests.tui.pictures.walk import WALKS, Walk
from tests.tui.stage import NARROW, WIDE, on_stage

assert main_screen
assert pages

SIZES = {"80x24": NARROW, "120x36": WIDE}
THEMES = {"dark": "ragchat-dark", "light": "ragchat-light", "contrast": "high-contrast"}
SAYS_EMPTY = [
    name
    for name, says in inspect.getmembers(empty, inspect.isfunction)
    if says.__module__ == empty.__name__ and not name.startswith("_")
]
SHOWN = {name: screen for walk in WALKS.values() for name, screen in walk.shows.items()}


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which of the sentences for an empty conversation were asked for, in order."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    asked: list[str] = []
    for name in SAYS_EMPTY:
        says = getattr(empty, name)

        def noted(*given: object, _name: str = name, _says: object = says, **named: object) -> object:
            asked.append(_name)
            return _says(*given, **named)  # type: ignore[operator]

        for module in (empty, chat):
            if getattr(module, name, None) is says:
                monkeypatch.setattr(module, name, noted)
    return asked


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
async def test_screen_looks_as_agreed(
    walk: Walk, size: str, svg: SnapshotAssertion, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, different = [], []
    turn = list(THEMES)  # there and back, because changing a theme costs as much as a start
    async with on_stage(
        walk.scene(),
        size=SIZES[size],
        theme=THEMES[turn[0]],
        folder=walk.folder,
        demo=walk.demo,
        welcome=walk.welcome,
        workspace=walk.workspace,
    ) as stage:
        async for name in walk.act(stage, monkeypatch):
            seen.append(name)
            assert type(stage.app.screen) is walk.shows[name]
            if (says := name.partition("-")[0]) in SAYS_EMPTY:
                assert said[-1] == says
            for short in turn:
                await stage.wear(THEMES[short])
                which = f"{name}-{size}-{short}"
                if await stage.picture() != svg(name=which):
                    await stage.pilot.pause(1)  # a machine that is busy may not have drawn everything yet
                    if await stage.picture() != svg(name=which):  # named anew: a name is good for one look
                        different.append(which)
            turn.reverse()
    assert sorted(seen) == sorted(walk.shows)
    assert different == []


def _screens() -> Iterator[type[Screen[Any]]]:
    """Every screen there is; what only others are made from is none."""
    for module in pkgutil.iter_modules(screens.__path__):
        importlib.import_module(f"{screens.__name__}.{module.name}")
    found: list[type[Screen[Any]]] = [Screen]
    for each in found:
        found += each.__subclasses__()
    yield from (
        each for each in found if each.__module__.startswith("ragchat.") and not each.__subclasses__()
    )


def test_every_screen_is_pictured() -> None:
    assert set(_screens()) == set(SHOWN.values())


@pytest.mark.parametrize(
    ("kind", "states"),
    [("", SAYS_EMPTY), ("turn-", get_args(Outcome)), ("viewer-", get_args(Standing))],
    ids=["empty", "outcomes", "standings"],
)
def test_every_state_is_pictured(kind: str, states: list[str]) -> None:
    missing = [state for state in states if not any(name.startswith(kind + state) for name in SHOWN)]
    assert missing == []


def test_every_picture_has_a_name_of_its_own_and_none_is_left_over() -> None:
    names = [name for walk in WALKS.values() for name in walk.shows]
    assert len(names) == len(set(names))
    kept = Path(__file__).parent / "__snapshots__" / "test_snapshots"
    wanted = {f"{name}-{size}-{theme}" for name in names for size in SIZES for theme in THEMES}
    assert {path.stem.rpartition("[")[2].rstrip("]") for path in kept.iterdir()} == wanted
