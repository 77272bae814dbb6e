"""What is photographed: each scene a few key presses, the theme and the size it is shown in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from docs.make.stage import BLUE_BIN, FAULT, KEYS, LEASE, NARROW, WIDE, WORLD_CUP, Stage


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
    """A part of the notes asked."""
    await stage.ask(f"in:house/ {BLUE_BIN}")


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


async def help_page(stage: Stage) -> None:
    """Every key."""
    await stage.press("f1", shows="Everywhere")


@dataclass(frozen=True, slots=True)
class Scene:
    """One picture, `docs/pictures/NAME.png`."""

    name: str
    act: Callable[[Stage], Awaitable[None]]
    theme: str = "ragchat-dark"
    size: tuple[int, int] = WIDE

    @property
    def caption(self) -> str:
        """What it shows, in one line."""
        return (self.act.__doc__ or "").removesuffix(".")


SCENES = (
    Scene("answer", answer),
    Scene("answer-narrow", answer_narrow, "ragchat-light", NARROW),
    Scene("viewer", viewer, "catppuccin-latte"),
    Scene("refusal", refusal, "nord"),
    Scene("inspector", inspector),
    Scene("why-refused", why_refused, "gruvbox-dark", NARROW),
    Scene("filters", filters, "catppuccin-mocha"),
    Scene("scripts", scripts, "high-contrast"),
    Scene("conversations", conversations, "solarized-light"),
    Scene("themes", themes, "dracula"),
    Scene("help", help_page, "ragchat-light"),
)
