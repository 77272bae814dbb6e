"""Pictures of the tools, several from one start: inspector, prompt, viewer, calibration, index view."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from ragchat.evaluation.promise import Promise
from ragchat.evaluation.statistics import proportion
from ragchat.tui.calibrating import Examined
from ragchat.tui.screens import calibration
from tests.tui.fake_workspace import FAILURES, THRESHOLD, Scene
from tests.tui.stage import NARROW, WIDE, on_stage
from tests.tui.test_calibration import ENOUGH, examined, questions

PROMISE = Promise(proportion([1.0] * 10 + [0.0] * 220))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("size", "theme"),
    [
        pytest.param(NARROW, "ragchat-dark", id="80x24-dark"),
        pytest.param(WIDE, "ragchat-light", id="120x36-light"),
    ],
)
async def test_tools_look_as_agreed(
    size: tuple[int, int], theme: str, svg: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage(Scene(failures=FAILURES), size=size, theme=theme) as stage:
        press, until, text = stage.pilot.press, stage.until, stage.text

        async def looks(name: str) -> None:
            assert await stage.picture() == svg(name=name)

        await stage.opened()
        await stage.ask("When does the lease end?")
        await press("alt+1")
        await until(lambda: "✓ exact" in text(), "the document")
        await press("slash", *"notice", "enter")
        await until(lambda: "1 of 2" in text(), "the places")
        await looks("viewer-found")
        await press("r")
        await until(lambda: bool(stage.app.screen.query("MarkdownBlock.cited")), "the rendered note")
        await looks("viewer-rendered")
        await press("escape", "ctrl+e")
        await until(lambda: "Candidates by" in text(), "the inspector")
        await press("p")
        await until(lambda: "Would be sent" in text(), "the prompt")
        await looks("prompt")
        await press("escape", "escape")
        await stage.ask("Why is the sky blue?")
        await press("ctrl+e", "down", "space")
        await until(lambda: "would be sent" in text(), "the line")
        await looks("inspector-moved")
        await press("escape")
        for name, data in (
            ("calibration", examined(ENOUGH)),
            ("calibration-few", examined(questions([0.3, 0.6], [0.4]))),
            ("calibration-empty", Examined(THRESHOLD, promise=PROMISE)),
        ):
            monkeypatch.setattr(calibration, "examine_folder", lambda *_, data=data: data)
            await press("f6")
            await until(lambda: "threshold 0.520" in text(), "the questions")
            await looks(name)
            await press("escape")
