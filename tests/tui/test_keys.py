"""What the keys do in more than one step; each alone is pressed in test_every_key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragchat.tui import original
from ragchat.tui.screens.confirm import ConfirmScreen
from ragchat.tui.screens.folder import FolderScreen
from ragchat.tui.screens.help import HelpScreen
from ragchat.tui.screens.index_view import IndexScreen
from ragchat.tui.screens.inspector import InspectorScreen
from ragchat.tui.screens.models import ModelScreen
from ragchat.tui.screens.pick import PickScreen
from ragchat.tui.screens.viewer import ViewerScreen
from tests.tui.stage import NARROW, Stage, on_stage


async def answered(stage: Stage) -> None:
    await stage.opened()
    await stage.ask("When does the lease end?")


@pytest.mark.parametrize(
    ("key", "screen"),
    [
        ("alt+2", ViewerScreen),
        ("ctrl+e", InspectorScreen),
        ("ctrl+o", FolderScreen),
        ("ctrl+l", ModelScreen),
        ("ctrl+t", PickScreen),
        ("f3", IndexScreen),
        ("f1", HelpScreen),
    ],
)
async def test_keys_that_open_a_screen_work_in_the_prompt_and_escape_comes_back(
    key: str, screen: type
) -> None:
    async with on_stage() as stage:
        await answered(stage)
        await stage.pilot.press(key)
        await stage.until(lambda: isinstance(stage.app.screen, screen), key)
        await stage.pilot.press("escape")
        await stage.until(lambda: stage.app.screen is stage.app.chat, "coming back")


async def test_copy_takes_the_last_answer_and_says_so(clipboard: list[str]) -> None:
    async with on_stage() as stage:
        await answered(stage)
        await stage.pilot.press("ctrl+y")
        await stage.until(lambda: "Copied the answer" in stage.text(), "the word")
        assert clipboard[-1].startswith("The lease ends on **31 March 2027** [1]")


async def test_without_a_native_clipboard_it_says_that_it_can_only_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import pyperclip

    def refuse(_text: str) -> None:
        raise pyperclip.PyperclipException("none")

    monkeypatch.setattr("pyperclip.copy", refuse)
    async with on_stage() as stage:
        await answered(stage)
        await stage.pilot.press("ctrl+y")
        await stage.until(lambda: "Asked the terminal to copy" in stage.text(), "the word")


async def test_taking_an_offer_needs_one() -> None:
    async with on_stage() as stage:
        await answered(stage)
        await stage.pilot.press("ctrl+g")
        await stage.until(lambda: "Nothing is on offer" in stage.text(), "the word")


async def test_reindexing_reads_again() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+r")
        await stage.until(lambda: stage.workspace.updates[1:] == [(False, False)], "indexing again")


async def test_sources_hide_and_show() -> None:
    async with on_stage() as stage:
        await answered(stage)
        shown = []
        for _ in range(2):
            await stage.pilot.press("f2")
            shown.append(stage.app.chat.sources.display)
        assert shown == [False, True]
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        await stage.pilot.press("f2")
        assert stage.app.chat.drawer_is_open


async def test_escape_leaves_the_pane_then_twice_quits() -> None:
    async with on_stage() as stage:
        await answered(stage)
        stage.app.chat.sources.focus()
        await stage.pilot.press("escape")
        assert stage.app.focused is stage.app.chat.prompt
        await stage.pilot.press("escape")
        assert "Quit: once more" in stage.text()
        await stage.pilot.press("escape")
        await stage.pilot.pause()
    assert stage.app.return_value == 0


async def test_ctrl_q_quits() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+q")
        assert stage.app._exit


async def test_prompt_new_line_enter_and_history() -> None:
    async with on_stage() as stage:
        await answered(stage)
        prompt = stage.app.chat.prompt
        await stage.pilot.press("a", "ctrl+j", "b")
        assert prompt.text == "a\nb"
        prompt.put("draft")
        await stage.pilot.press("up")
        assert prompt.text == "When does the lease end?"
        await stage.pilot.press("down")
        assert prompt.text == "draft"
        await stage.pilot.press("enter")
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 2, "the turn")
        await stage.answered()
        assert stage.workspace.questions[-1][0] == "draft"


async def test_a_paste_of_many_lines_is_one_question() -> None:
    from textual.events import Paste

    async with on_stage() as stage:
        await stage.opened()
        stage.app.post_message(Paste("one\ntwo\nthree"))
        await stage.until(lambda: "three" in stage.app.chat.prompt.text, "the paste")
        assert stage.workspace.questions == []
        await stage.pilot.press("enter")
        await stage.until(lambda: bool(stage.workspace.questions), "asking")
        assert stage.workspace.questions == [("one\ntwo\nthree", frozenset())]
        await stage.answered()


async def test_plain_keys_act_in_the_conversation(clipboard: list[str]) -> None:
    async with on_stage() as stage:
        await answered(stage)
        await stage.ask("Why is the sky blue?")
        conversation = stage.app.chat.conversation
        conversation.focus()
        await stage.pilot.press("up")
        assert conversation.selected is conversation.turns[0]
        await stage.until(lambda: len(stage.app.chat.sources.cards) == 4, "its sources")
        await stage.pilot.press("y")
        assert clipboard[-1].startswith("The lease ends")
        await stage.pilot.press("3")
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the viewer")
        await stage.pilot.press("q")
        await stage.pilot.press("i")
        await stage.until(lambda: isinstance(stage.app.screen, InspectorScreen), "the inspector")
        await stage.pilot.press("q")
        await stage.pilot.press("down")
        assert conversation.selected is conversation.turns[1]
        await stage.pilot.press("slash")
        assert stage.app.focused is stage.app.chat.prompt


async def test_plain_keys_act_in_the_sources(clipboard: list[str]) -> None:
    async with on_stage() as stage:
        await answered(stage)
        stage.app.chat.sources.focus()
        await stage.pilot.press("down", "down", "up", "y")
        assert clipboard[-1].startswith("as agreed on the phone")
        await stage.pilot.press("enter")
        await stage.until(lambda: "mail/2025-03.md" in stage.text(), "the viewer")
        assert isinstance(stage.app.screen, ViewerScreen)


async def test_viewer_o_opens_the_file_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, str]] = []

    def open_it(path: Path, locator: str) -> str:
        opened.append((str(path), locator))
        return "opened in evince at page 7"

    monkeypatch.setattr(original, "open_original", open_it)
    async with on_stage() as stage:
        await answered(stage)
        await stage.pilot.press("alt+1")
        await stage.until(lambda: "✓ exact" in stage.text(), "the document")
        await stage.pilot.press("o")
        await stage.until(lambda: "opened in evince" in stage.text(), "word of it")
    assert opened == [("/home/ada/notes/house/lease.md", "")]


@pytest.mark.parametrize(("key", "cleared"), [("y", True), ("n", False)])
async def test_yes_and_no(key: str, cleared: bool) -> None:
    from ragchat.tui.commands import clear

    async with on_stage() as stage:
        await answered(stage)
        clear(stage.app)
        await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen), "the question")
        await stage.pilot.press(key)
        await stage.until(lambda: stage.app.screen is stage.app.chat, "the answer")
        await stage.pilot.pause()
        assert (stage.workspace.kept.turns() == ()) is cleared


async def test_another_folder_is_opened_by_its_path(tmp_path: Path) -> None:
    async with on_stage() as stage:
        await answered(stage)
        await stage.pilot.press("ctrl+o")
        await stage.until(lambda: isinstance(stage.app.screen, FolderScreen), "the question")
        await stage.pilot.press(*"/nowhere", "enter")
        await stage.until(lambda: "there is no folder" in stage.text(), "the word")
        stage.app.screen.query_one("Input").value = str(tmp_path)  # type: ignore[attr-defined]
        await stage.pilot.press("enter")
        await stage.until(lambda: stage.app.folder == tmp_path and len(stage.workspaces) == 2, "opening")
        await stage.opened()
        assert stage.app.chat.conversation.turns == []
        assert stage.workspaces[0].closed
