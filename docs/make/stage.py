"""The real program on the sample notes, driven by its keys: what the pictures are taken of.

Nothing is faked but the model server, which streams the answers of `ANSWERS`: pictures must not depend on a
model that few have, nor on its mood. Notes, index, embedder, retrieval, gate and screen are the real ones.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from ragchat import paths
from ragchat.settings import OllamaSettings, ScreenSettings, Settings
from ragchat.tui.app import RagchatApp
from tests.ollama_script import Pause, Step, pieces
from tests.ollama_server import OllamaTestServer

MODEL = "qwen3:4b"
WIDE, NARROW = (120, 36), (80, 24)

LEASE = "When does the lease end?"
FAULT = "What does error E1187 on the boiler mean?"
WORLD_CUP = "Who won the football world cup in 1998?"
BLUE_BIN = "When is the blue bin collected?"
KEYS = "鍵はどこに預けてありますか？"

ANSWERS = {
    LEASE: "The fixed term ends on **31 March 2027** [1]; after that it runs on from month to month [1].\n\n"
    "- notice is two months, in writing [1]\n"
    "- an e-mail does not count [1]\n",
    FAULT: "**E1187** means that the water pressure is below 0.8 bar [1]. "
    "Open the filling loop until the gauge reads 1.4 bar [1].\n",
    BLUE_BIN: "The blue bin is collected in **even weeks** [1], on Tuesday before seven [2].\n",
    KEYS: "合鍵は隣の**田中さん**に預けてあります [1]。\n",
}
"""What the model server says."""
_UNKNOWN = "No answer is scripted for this question."


@dataclass(frozen=True, slots=True)
class Stage:
    """The running program and the keyboard before it."""

    app: RagchatApp
    pilot: Pilot[int]

    async def until(self, true: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
        """Let the program run until something holds. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while not true():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{what} did not come within {seconds:.0f} s:\n{self.text()}")
            await self.pilot.pause(0.02)
        await self.pilot.pause()

    async def opened(self) -> None:
        """Wait for the folder, its index and the model server."""
        await self.until(lambda: bool(self.app.chat.query("#prompt")), "the prompt")
        await self.until(lambda: self.app.session is not None and self.app.session.is_open, "the folder")
        await self.until(lambda: "fresh" in self.text() and "ready" in self.text(), "the index")

    async def ask(self, question: str) -> None:
        """Ask and wait for the end of the answer."""
        turns = len(self.app.chat.conversation.turns)
        self.app.chat.prompt.put(question)
        await self.pilot.press("enter")
        await self.until(lambda: len(self.app.chat.conversation.turns) > turns, "the turn")
        await self.until(self.finished, "the answer")
        await self.pilot.pause(1.0)  # its sentences are held against the sources

    def finished(self) -> bool:
        """Whether the last answer has come to its end."""
        return self.app.chat.conversation.turns[-1].has_class("finished")

    async def press(self, *keys: str, shows: str) -> None:
        """Press keys and wait until a text stands on the screen."""
        await self.pilot.press(*keys)
        await self.until(lambda: shows in self.text(), repr(shows))

    def text(self) -> str:
        """What stands on the screen, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip) for strip in strips)

    async def picture(self) -> str:
        """The screen as Textual exports it, without the cursor's blinking and without toasts."""
        self.app.chat.prompt._pause_blink(visible=False)
        self.app.clear_notifications()
        await self.pilot.pause(0.1)
        return self.app.export_screenshot(title="ragchat", simplify=True)


@contextmanager
def home(folder: Path) -> Iterator[Path]:
    """A home folder with the sample notes in `notes`; all that ragchat keeps but its models lies in it."""
    kept = {name: os.environ.get(name) for name in (*_MOVED, *_UNSET)}
    models = paths.cache_dir()
    for name in _UNSET:
        os.environ.pop(name, None)
    moved = {"HOME": folder, "RAGCHAT_CACHE_DIR": models}
    moved |= {f"RAGCHAT_{name}_DIR": folder / ".ragchat" / name.lower() for name in ("DATA", "CONFIG")}
    os.environ.update({name: str(path) for name, path in moved.items()})
    notes = folder / "notes"
    shutil.copytree(paths.sample_notes_dir(), notes)
    try:
        with chdir(folder):
            yield notes
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


_MOVED = ("HOME", "RAGCHAT_CACHE_DIR", "RAGCHAT_DATA_DIR", "RAGCHAT_CONFIG_DIR")
_UNSET = ("NO_COLOR", "SSH_CONNECTION", "SSH_TTY", "COLUMNS", "LINES")


@contextmanager
def model_server(pause: float = 0.0) -> Iterator[str]:
    """A server that streams `ANSWERS`, its address. pause: seconds between two words."""

    def speaks(body: Mapping[str, Any]) -> Iterable[Step]:
        asked = str(body["messages"][-1]["content"])
        answer = next((said for question, said in ANSWERS.items() if question in asked), _UNKNOWN)
        for piece in pieces(answer):
            yield piece
            if pause:
                yield Pause(pause)

    with OllamaTestServer(models=[MODEL]) as server:
        server.speaks = speaks
        yield server.url


@asynccontextmanager
async def on_stage(
    notes: Path,
    server: str,
    *,
    size: tuple[int, int] = WIDE,
    theme: str = "ragchat-dark",
    first_start: bool = False,
) -> AsyncIterator[Stage]:
    """The program over the sample notes alone, without earlier conversations.

    server: the model server's address. first_start: nobody has named a folder yet.
    """
    for path in notes.rglob("*"):
        if not (paths.sample_notes_dir() / path.relative_to(notes)).exists():
            path.unlink()
    kept = paths.folder_data_dir(notes)
    (kept / "conversation.jsonl").unlink(missing_ok=True)
    shutil.rmtree(kept / "conversations", ignore_errors=True)
    settings = Settings(
        ollama=OllamaSettings(host=server, model=MODEL),
        screen=ScreenSettings(theme=theme),
        origins={"screen.theme": "docs.make", "ollama.model": "docs.make"},
    )
    app = RagchatApp(None if first_start else notes, settings)
    app.welcomes = first_start
    async with app.run_test(size=size, notifications=True) as pilot:
        stage = Stage(app, pilot)
        if not first_start:
            await stage.opened()
        yield stage
