"""The dialog for a folder completes its path."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from textual.widgets import Input, OptionList

from ragchat.tui.folder_paths import completed, folders_like
from ragchat.tui.recent import remember_folder
from ragchat.tui.screens.folder import FolderScreen
from tests.tui.stage import Stage, on_stage


def made(where: Path) -> str:
    root = where / "around"
    root.mkdir()
    for name in ("Notes", "notes-old", "note.md", ".hidden", "café", "日本", "a\x1bb"):
        (root / name).mkdir()
    (root / "nothing.txt").write_text("")
    return str(root)


def test_only_folders_that_begin_like_that_hidden_ones_when_asked(tmp_path: Path) -> None:
    root = made(tmp_path)
    assert folders_like(f"{root}/not") == [f"{root}/{name}/" for name in ("note.md", "notes-old", "Notes")]
    assert folders_like(f"{root}/N")[0] == f"{root}/Notes/"
    assert f"{root}/.hidden/" not in folders_like(f"{root}/")
    assert folders_like(f"{root}/.") == [f"{root}/.hidden/"]
    assert folders_like(f"{root}/日") == [f"{root}/日本/"]
    assert folders_like(f"{root}/nothing.txt/") == []
    assert folders_like("~nobody-of-this-name/x") == []
    assert folders_like("/") != []


def test_completion_goes_as_far_as_all_go_together(tmp_path: Path) -> None:
    root = made(tmp_path)
    assert completed(f"{root}/note", folders_like(f"{root}/note")) == f"{root}/note"
    assert completed(f"{root}/ca", folders_like(f"{root}/ca")) == f"{root}/café/"
    assert completed("x", []) == "x"


@given(st.text(max_size=20))
def test_whatever_is_typed_is_looked_for(typed: str) -> None:
    assert all(path.endswith("/") for path in folders_like(typed))


async def asked(stage: Stage) -> FolderScreen:
    await stage.opened()
    await stage.pilot.press("ctrl+o")
    await stage.until(lambda: isinstance(stage.app.screen, FolderScreen), "the question")
    assert isinstance(stage.app.screen, FolderScreen)
    return stage.app.screen


async def test_tab_completes_and_the_list_is_walked_while_one_types(tmp_path: Path) -> None:
    root = made(tmp_path)
    async with on_stage() as stage:
        screen = await asked(stage)
        line, options = screen.query_one(Input), screen.query_one(OptionList)
        line.value = f"{root}/ca"
        await stage.until(lambda: options.option_count == 1, "the list")
        await stage.pilot.press("tab")
        assert line.value == f"{root}/café/"
        line.value = f"{root}/"
        await stage.until(lambda: options.option_count == 6, "the list")
        assert "a\\x1bb" in stage.text()
        await stage.pilot.press("down", "down", "tab")
        assert line.value in folders_like(f"{root}/")
        line.value = f"{root}/no"
        await stage.until(lambda: options.option_count == 3, "the list")
        await stage.pilot.press("down", "down", "enter")
        await stage.until(lambda: stage.app.folder == Path(root) / "notes-old", "opening")


async def test_before_anything_is_typed_the_recent_ones_are_listed(tmp_path: Path) -> None:
    remember_folder(tmp_path)
    async with on_stage() as stage:
        screen = await asked(stage)
        await stage.pilot.press("tab")
        assert stage.app.focused is screen.query_one(OptionList)
        await stage.pilot.press("j", "enter")
        await stage.until(lambda: stage.app.folder == tmp_path, "opening")
