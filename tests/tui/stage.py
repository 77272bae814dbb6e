"""Puts the app on a small stage: a fake workspace, a fixed size, and a way to wait for the threads."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from rich.cells import cell_len
from textual.css.styles import Styles
from textual.pilot import Pilot
from textual.widget import Widget

from ragchat.settings import ScreenSettings, Settings
from ragchat.tui.app import RagchatApp
from tests.tui.fake_workspace import FakeWorkspace, Scene

FOLDER = Path("/home/ada/notes")
WIDE, NARROW = (120, 36), (80, 24)
_TERMINAL_ID = re.compile(r"terminal-\d+-")
"""In each line of an SVG, and another one after each change: the difference of two would be all of it."""


@dataclass
class Stage:
    """The running app with its pilot and the workspaces it opened."""

    app: RagchatApp
    pilot: Pilot[int]
    workspaces: list[FakeWorkspace]

    @property
    def workspace(self) -> FakeWorkspace:
        """The latest opened."""
        return self.workspaces[-1]

    async def until(self, true: Callable[[], bool], what: str = "it", seconds: float = 20.0) -> None:
        """Let the app run until something holds."""
        deadline = time.monotonic() + seconds
        while not true():
            late = time.monotonic() >= deadline
            assert not late, f"{what} did not happen within {seconds:.0f} s:\n{self.text()}"
            await self.pilot.pause(0.02)
        await self.pilot.pause()

    async def opened(self) -> None:
        """Let the folder open, the index come up to date and the server be looked at."""
        await self.until(lambda: bool(self.app.chat.query("#prompt")), "the prompt")
        await self.until(lambda: self.app.session is not None and self.app.session.is_open, "opening")
        await self.until(lambda: not self.indexing and self.app.feed.health is not None, "settling")

    @property
    def indexing(self) -> bool:
        """Whether the session is indexing, or was about to when last looked at."""
        session = self.app.session
        return session is None or session.indexing or not self.workspace.updates

    def begin(self, question: str) -> None:
        """Ask without waiting: the pilot's own `press` waits for a stream to pause."""
        self.app.chat.prompt.put(question)
        self.app.chat.prompt.action_ask()

    async def ask(self, question: str) -> None:
        """Type, press enter, wait for the end of the answer."""
        before = self.app.chat.conversation.turns[-1:]
        self.app.chat.prompt.put(question)
        await self.pilot.press("enter")
        await self.until(lambda: self.app.chat.conversation.turns[-1:] != before, "the turn")
        await self.answered()

    async def answered(self) -> None:
        """Wait for the last turn to be finished."""
        turn = self.app.chat.conversation.turns[-1]
        await self.until(lambda: turn.has_class("finished"), "the answer")
        await self.pilot.pause()

    async def wear(self, theme: str) -> None:
        """Change the theme, and paint nothing: a picture paints all anyway.

        Textual refreshes all children of a widget for every colour that changes; all of them once, at the
        end, comes to the same.
        """
        if self.app.theme == theme:
            return
        with self.app.batch_update(), patch.object(Styles, "refresh", lambda *_, **__: None):
            self.app.theme = theme
            await self.pilot.pause()
        for screen in self.app.screen_stack:
            for node in screen.walk_children(Widget, with_self=True):
                node.refresh()

    async def picture(self) -> str:
        """The screen as SVG, the cursor still and the toasts gone."""
        if self.app.chat.query("#prompt"):
            self.app.chat.prompt._pause_blink(visible=False)
        self.app.clear_notifications()
        await self.pilot.pause(0.05)
        return _TERMINAL_ID.sub("t-", self.app.export_screenshot(simplify=True))

    def text(self) -> str:
        """What stands on the screen, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    def words(self, pane: str = "#conversation") -> str:
        """What stands in the panes of that kind, lines joined as if they had not been wrapped."""
        lines = self.text().split("\n")
        regions = [each.region for each in self.app.screen.query(pane)]
        cut = (cell_cut(line, at.x + 1, at.right - 2) for at in regions for line in lines[at.y : at.bottom])
        return " ".join(" ".join(cut).split())


def cell_cut(line: str, start: int, end: int) -> str:
    """The characters of a line that stand in these cells."""
    at, kept = 0, []
    for character in line:
        if start <= at < end:
            kept.append(character)
        at += cell_len(character)
    return "".join(kept)


@asynccontextmanager
async def on_stage(
    scene: Scene | None = None,
    *,
    size: tuple[int, int] = WIDE,
    theme: str = "ragchat-dark",
    folder: Path | None = FOLDER,
    demo: bool = False,
    workspace: type[FakeWorkspace] = FakeWorkspace,
    settings: Settings | None = None,
    welcome: bool = False,
) -> AsyncIterator[Stage]:
    """The app over a fake workspace; all threads have ended afterwards."""
    played = scene or Scene()
    workspaces: list[FakeWorkspace] = []

    def open_workspace(path: Path, settings: Settings) -> FakeWorkspace:
        workspaces.append(workspace(path, settings, played))
        return workspaces[-1]

    own = replace(settings or Settings(), screen=ScreenSettings(theme=theme))
    app = RagchatApp(folder, own, demo=demo, open_workspace=open_workspace)
    app.welcomes = welcome
    async with app.run_test(size=size, notifications=True) as pilot:
        yield Stage(app, pilot, workspaces)
