"""A walk: one start of the program and the pictures taken on the way, each with the screen it must show."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from tests.tui.fake_workspace import FakeWorkspace, Scene
from tests.tui.stage import FOLDER, Stage

Act = Callable[[Stage, pytest.MonkeyPatch], AsyncIterator[str]]


@dataclass(frozen=True)
class Walk:
    """shows: the name of each picture and the screen that must be on top when it is taken."""

    act: Act
    shows: Mapping[str, type[Screen[Any]]]
    scene: Callable[[], Scene]
    folder: Path | None = FOLDER
    demo: bool = False
    welcome: bool = False
    workspace: type[FakeWorkspace] = FakeWorkspace


WALKS: dict[str, Walk] = {}


def walk(
    shows: Mapping[str, type],
    scene: Callable[[], Scene] = Scene,
    *,
    folder: Path | None = FOLDER,
    demo: bool = False,
    welcome: bool = False,
    workspace: type[FakeWorkspace] = FakeWorkspace,
) -> Callable[[Act], Act]:
    """Note a walk. It yields the name of a picture where one is to be taken."""

    def noted(act: Act) -> Act:
        WALKS[act.__name__] = Walk(act, shows, scene, folder, demo, welcome, workspace)
        return act

    return noted
