"""What a terminal sends is the key that was pressed."""

from __future__ import annotations

import threading
import time

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key

from ragchat.answering.status import FolderStatus
from ragchat.tui.app import RagchatApp
from tests.tui.fake_workspace import ANSWER, FakeWorkspace, Scene, answer_of, answered_trace, turn_of
from tests.tui.stage import on_stage


@pytest.mark.parametrize("digit", "123456789")
def test_escape_and_a_digit_is_alt_and_the_digit(digit: str) -> None:
    parser = XTermParser()
    events = [*parser.feed(f"\x1b{digit}"), *parser.feed("a"), *parser.feed("")]
    assert [event.key for event in events if isinstance(event, Key)] == [f"alt+{digit}", "a"]


async def test_fast_typing_is_asked_whole_and_what_follows_is_the_next_question() -> None:
    async with on_stage(Scene()) as stage:
        await stage.opened()
        for letter in "when does it end":
            stage.app.post_message(Key(letter, letter))
        stage.app.post_message(Key("ctrl+j", "\n"))
        stage.app.post_message(Key("x", "x"))
        stage.app.post_message(Key("enter", "\r"))
        for letter in "next":
            stage.app.post_message(Key(letter, letter))
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 1, "the turn")
        await stage.answered()
        assert stage.app.chat.conversation.turns[0].question == "when does it end\nx"
        assert stage.app.chat.prompt.text == "next"


async def test_what_is_typed_while_the_prompt_is_being_made_is_not_lost() -> None:
    """The keys were sent to the screen, which reads them only when the prompt is there."""
    async with on_stage(Scene()) as stage:
        await stage.opened()
        stage.app.chat.prompt.put("later")
        for letter in "early ":
            stage.app.chat.post_message(Key("space" if letter == " " else letter, letter))
        await stage.until(lambda: "early" in stage.app.chat.prompt.text, "the early letters")
        await stage.pilot.pause()
        assert stage.app.chat.prompt.text == "early later"
        stage.app.chat.post_message(Key("enter", "\r"))
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 1, "the turn")
        await stage.answered()
        assert stage.app.chat.conversation.turns[0].question == "early later"
        for letter in "next":
            stage.app.chat.post_message(Key(letter, letter))
        await stage.until(lambda: len(stage.app.chat.prompt.text) == 4, "the letters of another question")
        assert stage.app.chat.prompt.text == "next"


async def test_a_question_before_the_kept_turns_are_drawn_is_not_wiped_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The folder opens in its thread while the screen is busy: its news come behind the question."""
    opens = RagchatApp.open_session

    def open_while_busy(app: RagchatApp) -> None:
        opens(app)
        for _ in range(400):
            if app.session is not None and app.session.is_open:
                break
            time.sleep(0.01)

    monkeypatch.setattr(RagchatApp, "open_session", open_while_busy)
    async with on_stage(
        Scene(turns=(turn_of(answer_of(answered_trace("When does it begin?"), ANSWER)),))
    ) as stage:
        stage.app.chat._typed_early, stage.app.chat._asked_early = "", "When does it end?"
        await stage.opened()
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 2, "both turns")
        await stage.answered()
        asked = [turn.question for turn in stage.app.chat.conversation.turns]
        assert asked == ["When does it begin?", "When does it end?"]


async def test_a_question_asked_while_the_folder_opens_is_asked_when_it_is_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_open, status = threading.Event(), FakeWorkspace.status

    def slow_status(workspace: FakeWorkspace) -> FolderStatus:
        may_open.wait(8)
        return status(workspace)

    monkeypatch.setattr(FakeWorkspace, "status", slow_status)
    async with on_stage(Scene()) as stage:
        await stage.until(lambda: bool(stage.app.chat.query("#prompt")), "the prompt")
        stage.begin("When does the lease end?")
        await stage.pilot.pause()
        assert stage.app.chat.conversation.turns == []
        may_open.set()
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 1, "the turn")
        await stage.answered()
        assert stage.app.chat.conversation.turns[0].question == "When does the lease end?"
        assert stage.app.chat.prompt.text == ""
