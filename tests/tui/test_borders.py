"""What other people named stands in a border as it was written: a plain string there is markup to Textual."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragchat.errors import RagchatError
from ragchat.tui.screens.calibration import CalibrationScreen
from ragchat.tui.screens.facts import FactsScreen
from ragchat.tui.screens.inspector import InspectorScreen
from tests.tui.fake_workspace import candidate, passages, trace_of
from tests.tui.stage import on_stage
from tests.tui.test_viewer import viewing

HOSTILE = "[/x] [bold]a[@click=app.quit]b"


async def test_the_name_of_a_document_over_its_facts() -> None:
    async with on_stage() as stage:
        await stage.opened()
        assert stage.app.session is not None
        await stage.app.push_screen(FactsScreen(stage.app.session, f"{HOSTILE}.md"))
        await stage.until(lambda: f"─ {HOSTILE}.md ─" in stage.text(), "the name")


async def test_words_that_are_not_in_the_document() -> None:
    async with on_stage() as stage:
        await viewing(stage)
        await stage.pilot.press("slash", *HOSTILE)
        await stage.until(lambda: f"“{HOSTILE}” is not in this document" in stage.text(), "the word")


async def test_the_place_of_a_candidate() -> None:
    chunk = replace(passages()[0][0], locator=f"sheet={HOSTILE}!A1")
    async with on_stage() as stage:
        await stage.opened()
        await stage.app.push_screen(InspectorScreen(trace_of("q", [candidate(1, chunk, 0.3)]), None, 4))
        await stage.until(lambda: f"#sheet={HOSTILE}!A1" in stage.text(), "the place")


async def test_the_folder_of_the_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCHAT_CONFIG_DIR", str(tmp_path / HOSTILE))
    async with on_stage(size=(200, 36)) as stage:
        await stage.opened()
        await stage.pilot.press("f9")
        await stage.until(lambda: HOSTILE in stage.text(), "the settings")


async def test_why_a_folder_could_not_be_examined() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("f6")
        await stage.until(lambda: isinstance(stage.app.screen, CalibrationScreen), "the screen")
        assert isinstance(stage.app.screen, CalibrationScreen)
        stage.app.screen._fail(RagchatError(HOSTILE))
        await stage.until(lambda: f"✗ {HOSTILE}" in stage.text(), "the reason")
