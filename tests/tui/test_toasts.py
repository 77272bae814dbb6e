"""Toasts lie over the text: few at once, the same never twice, and gone when they are read."""

from __future__ import annotations

import pytest

from ragchat.tui.themed_app import ThemedApp
from ragchat.tui.toasts import reading_seconds
from tests.tui.stage import NARROW, Stage, on_stage


async def shown(stage: Stage, *told: tuple[str, str]) -> list[str]:
    """What is on the screen after these were told, one after the other."""
    for words, severity in told:
        stage.app.notify(words, severity=severity)  # type: ignore[arg-type]
        await stage.pilot.pause()
    return [toast.message for toast in stage.app._notifications]


async def test_what_is_done_next_takes_the_place_of_what_was_done() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        stage.app.clear_notifications()
        done = [(f"Copied line {n}.", "information") for n in range(4)]
        assert await shown(stage, *done) == ["Copied line 3."]
        assert await shown(stage, ("It failed.", "error"), ("It failed.", "error")) == [
            "Copied line 3.",
            "It failed.",
        ]
        assert await shown(stage, ("That is full.", "warning")) == ["It failed.", "That is full."]
        assert await shown(stage, ("Copied.", "information")) == ["That is full.", "Copied."]


async def test_many_problems_are_one_toast() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        stage.app.clear_notifications()
        assert isinstance(stage.app, ThemedApp)
        stage.app._tell([f"problem {n} [x" for n in range(9)], "Theme")
        stage.app._tell([], "Keys")
        await stage.until(lambda: "… and 5 more" in stage.text(), "the word")
        assert "problem 3 [x" in stage.text()
        assert "problem 4" not in stage.text()


def test_a_toast_stays_as_long_as_one_reads() -> None:
    assert reading_seconds("Copied.") == 2.5
    assert reading_seconds("x" * 100) == 5
    assert reading_seconds("x" * 1000) == 8


async def test_what_the_terminal_may_not_allow_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_TTY", "/dev/pts/1")
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        stage.app.copy("one", "the quote")
        await stage.until(lambda: "OSC 52" in stage.text(), "the hint")
        stage.app.copy("three", "the answer")
        await stage.until(lambda: "copy the answer, 5 characters." in stage.text(), "the line")
        assert "OSC 52" not in stage.text()


async def test_no_toast_lies_over_the_letters_of_a_jump() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        stage.app.notify("Something is told.")
        await stage.until(lambda: "Something is told" in stage.text(), "the toast")
        await stage.pilot.press("f7")
        await stage.until(lambda: "Something is told" not in stage.text(), "no toast")
