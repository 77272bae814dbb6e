"""The screen of settings: made from the schema, checked as one types, written with the comments kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input, OptionList, Static

from ragchat.errors import IndexStale
from ragchat.settings import EmbeddingSettings, Settings
from ragchat.settings_loader import config_file_path, load_settings
from ragchat.settings_schema import setting_rows
from ragchat.tui.screens.confirm import ConfirmScreen
from ragchat.tui.screens.settings import SettingsScreen
from tests.tui.fake_workspace import Scene
from tests.tui.stage import NARROW, WIDE, Stage, on_stage


@pytest.fixture
def file(home: Path) -> Path:
    path = config_file_path()
    path.parent.mkdir(parents=True)
    path.write_text("# mine\n[retrieval]\nsources = 3  # few\n")
    return path


async def at(stage: Stage, name: str) -> None:
    """Open the settings, the cursor on one of them."""
    await stage.opened()
    await stage.pilot.press("f9")
    await stage.until(lambda: isinstance(stage.app.screen, SettingsScreen), "the settings")
    options = stage.app.screen.query_one(OptionList)
    options.highlighted = options.get_option_index(name)
    await stage.pilot.pause()


async def typed(stage: Stage, text: str) -> None:
    """Change the value under the cursor to this, without enter."""
    await stage.pilot.press("enter")
    stage.app.screen.query_one(Input).value = text
    await stage.pilot.pause()


async def test_every_setting_is_there_with_its_meaning_and_its_origin(file: Path) -> None:
    settings = load_settings({"ollama.seed": 7}, environ={"RAGCHAT_CHUNKING_SIZE": "300"})
    async with on_stage(settings=settings) as stage:
        await at(stage, "retrieval.sources")
        options = stage.app.screen.query_one(OptionList)
        for row in setting_rows():
            assert options.get_option(row.name)
        line = next(line for line in stage.text().split("\n") if " sources " in line and " 3 " in line)
        assert line.split()[1:4] == ["sources", "3", "file"]
        assert "At most so many passages are sent." in stage.text()
        words = stage.words("#meaning")
        assert "default 4 allowed a whole number from 1 to 50" in words
        assert "takes hold when the folder is opened costs nothing" in words
        await stage.pilot.resize_terminal(*NARROW)
        brief = "a whole number from 1 to 50 · default 4 · when the folder is opened"
        await stage.until(lambda: brief in stage.text(), "fewer words below the list")
        await stage.pilot.resize_terminal(*WIDE)
        options.highlighted = options.get_option_index("chunking.size")
        await stage.pilot.pause()
        assert "▲ RAGCHAT_CHUNKING_SIZE fixes it" in stage.text()
        await stage.pilot.press("enter", "x")
        assert "CHUNKING_SIZE fixes it: what the file says counts without that" in stage.words("#meaning")
        assert not stage.app.screen.query_one(Input).display
        options.highlighted = options.get_option_index("ollama.seed")
        await stage.pilot.pause()
        assert "▲ flag fixes it" in stage.text()


async def test_a_value_is_checked_as_it_is_typed_written_and_taken_back(file: Path) -> None:
    async with on_stage(settings=load_settings(environ={})) as stage:
        await at(stage, "retrieval.sources")
        await typed(stage, "90")
        wrong = "✗ retrieval.sources = '90' does not fit: it is a whole number from 1 to 50"
        assert wrong in stage.words("#meaning")
        await stage.pilot.press("enter")
        assert file.read_text() == "# mine\n[retrieval]\nsources = 3  # few\n"
        await stage.pilot.press("escape")
        assert isinstance(stage.app.screen, SettingsScreen)
        await typed(stage, "6")
        await stage.pilot.press("enter")
        assert file.read_text() == "# mine\n[retrieval]\nsources = 6  # few\n"
        await stage.pilot.press("x")
        assert "sources" not in file.read_text()
        assert file.read_text().startswith("# mine\n[retrieval]")
        await stage.pilot.press("x")
        assert "it is the default already" in stage.text()
        await typed(stage, "5")
        await stage.pilot.press("enter", "escape")
        await stage.until(lambda: len(stage.workspaces) == 2, "opening anew")
        await stage.opened()
        assert stage.app.settings.retrieval.sources == 5
        assert stage.workspaces[0].closed


async def test_one_of_a_few_is_taken_by_going_round(file: Path) -> None:
    async with on_stage(settings=load_settings(environ={})) as stage:
        await at(stage, "retrieval.rerank")
        await stage.pilot.press("enter")
        assert 'rerank = "off"' in file.read_text()
        await stage.pilot.press("space")
        assert 'rerank = "late"' in file.read_text()


async def test_a_theme_is_on_at_once_and_must_be_there(file: Path) -> None:
    async with on_stage(settings=load_settings(environ={})) as stage:
        await at(stage, "screen.theme")
        await typed(stage, "nrd")
        assert "✗ there is no theme 'nrd'" in stage.text()
        await typed(stage, "nord")
        stage.app.screen.query_one(Input).value = "nord"
        await stage.pilot.press("enter")
        assert stage.app.theme == "nord"
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat, "coming back")
        assert len(stage.workspaces) == 1


@pytest.mark.parametrize(("key", "rebuilt"), [("y", True), ("n", False)])
async def test_another_embedder_says_what_it_costs_before_it_happens(
    key: str, file: Path, *, rebuilt: bool
) -> None:
    from ragchat import paths

    (paths.make_private_dir(paths.data_dir()) / "passages_a_second").write_text("33.5")
    scene = Scene()
    async with on_stage(scene, settings=load_settings(environ={})) as stage:
        await at(stage, "embedding.model")
        await typed(stage, "ollama:bge-m3")
        await stage.pilot.press("enter")
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen), "the question")
        words = str(stage.app.screen.query_one(".body", Static).content)
        assert "6,031 passages of 412 documents must be embedded anew: about 3 min" in words
        assert "bge-m3" not in file.read_text()
        await stage.pilot.press(key)
        await stage.pilot.pause()
        assert ("bge-m3" in file.read_text()) is rebuilt
        scene.index_error = IndexStale("made by another", hint="") if rebuilt else None
        await stage.pilot.press("escape")
        if rebuilt:
            await stage.until(lambda: (True, False) in stage.workspace.updates, "the rebuild")
            assert stage.app.settings.embedding == EmbeddingSettings(model="ollama:bge-m3")


async def test_a_file_that_is_no_toml_is_not_written_over(file: Path) -> None:
    async with on_stage(settings=Settings()) as stage:
        await at(stage, "retrieval.neighbours")
        file.write_text("[retrieval\n")
        await stage.pilot.press("enter")
        assert "cannot be read" in stage.text()
        assert file.read_text() == "[retrieval\n"
        assert stage.app.settings.retrieval.neighbours is True


async def test_the_chosen_row_stays_inside_the_list(home: Path) -> None:
    async with on_stage(size=NARROW, settings=load_settings(environ={})) as stage:
        await at(stage, "notes.folder")
        options = stage.app.screen.query_one(OptionList)
        for _ in setting_rows():
            await stage.pilot.press("down")
            await stage.pilot.pause()
            assert options.highlighted is not None
            name = options.get_option_at_index(options.highlighted).id or ""
            inside = stage.text().split("\n")[options.region.y : options.region.bottom]
            assert any(f"  {name.partition('.')[2]} " in line for line in inside), stage.text()


async def test_the_demo_says_which_settings_it_fixes_and_what_to_do(home: Path) -> None:
    async with on_stage(settings=load_settings(environ={}), demo=True) as stage:
        await at(stage, "retrieval.sources")
        line = next(line for line in stage.text().split("\n") if " sources " in line)
        assert line.split()[1:4] == ["sources", "4", "demo"]
        assert "Change" not in stage.text()
        await stage.pilot.press("enter")
        told = "✗ the demo fixes it: open a folder of your own to change it"
        assert told in stage.words("#meaning")
        options = stage.app.screen.query_one(OptionList)
        options.highlighted = options.get_option_index("ollama.seed")
        await stage.pilot.pause()
        assert "Change" in stage.text()
        assert " demo " not in next(line for line in stage.text().split("\n") if " seed " in line)
