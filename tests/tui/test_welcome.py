"""The first start asks where the notes are; it can be skipped, and is shown once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from ragchat.tui.screens.folder import FolderScreen
from ragchat.tui.screens.welcome import WelcomeScreen
from tests.tui.fake_workspace import HEALTHY, NO_SERVER, Scene
from tests.tui.stage import FOLDER, Stage, on_stage


async def welcomed(stage: Stage) -> None:
    await stage.until(lambda: isinstance(stage.app.screen, WelcomeScreen), "the welcome")


async def test_skipping_opens_the_folder_one_is_in_and_it_is_never_shown_again() -> None:
    async with on_stage(welcome=True) as stage:
        await welcomed(stage)
        assert stage.app.session is None
        assert "~/notes" in stage.text()
        await stage.pilot.press("escape")
        await stage.opened()
        assert stage.app.folder == FOLDER
    async with on_stage(welcome=True) as stage:
        await stage.opened()
        assert stage.app.screen is stage.app.chat


async def test_nobody_who_named_a_folder_is_welcomed() -> None:
    async with on_stage() as stage:
        await stage.opened()
        assert stage.app.screen is stage.app.chat


async def test_a_folder_is_chosen_and_choosing_none_comes_back(tmp_path: Path) -> None:
    async with on_stage(welcome=True) as stage:
        await welcomed(stage)
        await stage.pilot.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, FolderScreen), "the dialog")
        await stage.pilot.press("escape")
        await welcomed(stage)
        await stage.pilot.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, FolderScreen), "the dialog")
        stage.app.screen.query_one(Input).value = str(tmp_path)
        await stage.pilot.press("enter")
        await stage.opened()
        assert stage.app.folder == tmp_path


async def test_the_sample_is_a_copy_with_the_demo_settings(tmp_path: Path) -> None:
    async with on_stage(welcome=True) as stage:
        await welcomed(stage)
        await stage.pilot.press("j", "enter")
        await stage.opened()
        assert stage.app.demo
        assert stage.app.folder == tmp_path / "data" / "demo" / "notes"
        assert (stage.app.folder / "house" / "lease.md").exists()


@pytest.mark.parametrize(
    ("scene", "words"),
    [
        (Scene(), ("● Ollama answers", "qwen3:4b")),
        (Scene(health=replace(HEALTHY, models=())), ("no model is installed", "ollama pull ")),
        (Scene(health=NO_SERVER), ("○ ", "next: ", "Without it answers are quotations")),
    ],
)
async def test_it_says_what_became_of_the_model_server(scene: Scene, words: tuple[str, ...]) -> None:
    async with on_stage(scene, welcome=True) as stage:
        await welcomed(stage)
        await stage.until(lambda: words[0] in stage.text(), words[0])
        assert all(word in stage.text() for word in words)
        await stage.pilot.press("ctrl+q")
        assert stage.app._exit


def test_the_welcome_is_only_for_who_named_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from ragchat.cli import screen
    from ragchat.cli.program import run

    asked: list[bool] = []
    monkeypatch.setattr(screen, "on_a_terminal", lambda: True)

    def opened(*_arguments: object, welcome: bool, **_options: object) -> int:
        asked.append(welcome)
        return 0

    monkeypatch.setattr("ragchat.tui.run", opened)
    monkeypatch.chdir(tmp_path)
    assert [run(arguments) for arguments in ([], ["."], ["-f", "."], ["--set", "ollama.seed=1"])] == [0] * 4
    monkeypatch.setenv("RAGCHAT_NOTES_FOLDER", str(tmp_path))
    assert run([]) == 0
    assert asked == [True, False, False, False, False]
