"""What is photographed: each scene a few key presses, the theme and the size it is shown in."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from docs.make.stage import BLUE_BIN, FAULT, KEYS, LEASE, NARROW, WIDE, WORLD_CUP, Stage
from ragchat.evaluation.collection import Collection

QUESTIONS = Path(__file__).resolve().parent.parent / "sample-questions.toml"


async def welcome(stage: Stage) -> None:
    """The first start."""
    await stage.until(lambda: "Ollama answers" in stage.text(), "the model server")


async def answer(stage: Stage) -> None:
    """An answer with its sources."""
    await stage.ask(LEASE)


async def answer_narrow(stage: Stage) -> None:
    """The same in the smallest usual terminal."""
    await answer(stage)


async def viewer(stage: Stage) -> None:
    """A source opened at the cited range."""
    await answer(stage)
    await stage.press("alt+1", shows="exact")


async def refusal(stage: Stage) -> None:
    """A question that the notes do not answer, after one that they do."""
    await stage.ask(FAULT)
    await stage.ask(WORLD_CUP)


async def inspector(stage: Stage) -> None:
    """Every candidate of an answer."""
    await answer(stage)
    await stage.press("ctrl+e", shows="bm25")


async def why_refused(stage: Stage) -> None:
    """Every candidate of a refusal."""
    await stage.ask(WORLD_CUP)
    await stage.press("ctrl+e", shows="too far")


async def scripts(stage: Stage) -> None:
    """A question and an answer in Japanese."""
    await stage.ask(KEYS)


async def filters(stage: Stage) -> None:
    """A part of the notes asked, and the next filter completed as it is typed."""
    await stage.ask(f"in:house/ {BLUE_BIN}")
    await stage.pilot.press(*"in:tra")
    await stage.until(lambda: "in:travel/" in stage.text(), "the completion")


async def index(stage: Stage) -> None:
    """Every document by its state, and what was not read."""
    assert stage.app.folder is not None
    (stage.app.folder / "house" / "scan.pdf").write_bytes(b"%PDF-1.4 this is no PDF")
    (stage.app.folder / "house" / "plan.dwg").write_bytes(b"\0\1\2")
    await stage.until(lambda: "1 failed" in stage.text() or "32 docs" in stage.text(), "the new files")
    await stage.press("f3", shows="scan.pdf")


async def calibration(stage: Stage) -> None:
    """The threshold against the questions that were collected."""
    collect(stage)
    await stage.press("f6", shows="lost")


async def settings(stage: Stage) -> None:
    """Every setting: what it means, and where its value comes from."""
    await stage.press("f9", shows="notes.")


async def conversations(stage: Stage) -> None:
    """The conversations of the folder."""
    await answer(stage)
    await stage.pilot.press("ctrl+n")
    await stage.ask(FAULT)
    await stage.press("f5", shows="Conversations")


async def themes(stage: Stage) -> None:
    """The choice of a theme over an answer."""
    await answer(stage)
    await stage.press("ctrl+t", shows="high-contrast")


async def palette(stage: Stage) -> None:
    """Commands, documents, sections, conversations, models, themes and settings by name."""
    await answer(stage)
    await stage.press("ctrl+p", shows="names")
    await stage.pilot.press(*"lease")
    await stage.until(lambda: "house/lease.md" in stage.text(), "what was found")
    await stage.pilot.pause(1.0)


async def help_page(stage: Stage) -> None:
    """Every key."""
    await stage.press("f1", shows="Everywhere")


def collect(stage: Stage) -> None:
    """The questions on the sample notes, as if they had been marked in use."""
    assert stage.app.folder is not None
    collection = Collection(stage.app.folder)
    for record in tomllib.loads(QUESTIONS.read_text(encoding="utf-8"))["question"]:
        if "document" not in record:
            collection.mark_refused(record["question"])
            continue
        text = (stage.app.folder / record["document"]).read_text(encoding="utf-8")
        start, words = text.index(record["evidence"]), record["evidence"]
        collection.mark_answer(record["question"], record["document"], start, start + len(words), words)


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture, `docs/pictures/NAME.png`."""

    name: str
    act: Callable[[Stage], Awaitable[None]]
    theme: str = "ragchat-dark"
    size: tuple[int, int] = WIDE
    first_start: bool = False

    @property
    def caption(self) -> str:
        """What it shows, in one line."""
        return (self.act.__doc__ or "").removesuffix(".")


SCENES = (
    Scene("welcome", welcome, size=NARROW, first_start=True),
    Scene("answer", answer),
    Scene("answer-narrow", answer_narrow, "ragchat-light", NARROW),
    Scene("viewer", viewer, "catppuccin-latte"),
    Scene("refusal", refusal, "nord"),
    Scene("inspector", inspector),
    Scene("why-refused", why_refused, "gruvbox-dark", NARROW),
    Scene("filters", filters, "catppuccin-mocha"),
    Scene("scripts", scripts, "high-contrast"),
    Scene("index", index, "midnight"),
    Scene("calibration", calibration, "solarized-dark"),
    Scene("settings", settings, "gruvbox-light"),
    Scene("conversations", conversations, "solarized-light"),
    Scene("themes", themes, "dracula"),
    Scene("palette", palette, "ragchat-dark", NARROW),
    Scene("help", help_page, "ragchat-light"),
)
