"""Small terminals, terminals that change their size, pastes, wide and right-to-left text."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
from textual.events import Paste
from textual.widgets import OptionList

from ragchat.answering.events import AnswerEvent, AnswerText, Finished, Retrieved
from ragchat.tui.screens.conversations import ConversationsScreen
from ragchat.tui.screens.too_small import TooSmallScreen
from tests.tui.fake_workspace import HEALTHY, Scene, answer_of, answered_trace
from tests.tui.stage import NARROW, on_stage

LEAST = (40, 10)
WHOLE = "The lease ends on **31 March 2027** [1], with two months' notice [2]."
MIXED = "家賃は三万円です、期限は三月です。\nمتى ينتهي عقد الإيجار؟\nמתי מסתיים החוזה?\n👩‍👩‍👧 e\u0301"


async def test_under_the_least_size_one_line_is_shown_and_goes_away_again() -> None:
    async with on_stage(size=(30, 8)) as stage:
        await stage.opened()
        lines = [line.strip() for line in stage.text().split("\n") if line.strip()]
        assert " ".join(lines) == "Too small: 10 columns and 2 rows more."
        await stage.pilot.resize_terminal(20, 5)
        await stage.pilot.pause()
        assert "20 columns and 5 rows" in " ".join(stage.text().split())
        await stage.pilot.resize_terminal(*LEAST)
        await stage.pilot.pause()
        assert not isinstance(stage.app.screen, TooSmallScreen)
        assert "enter ask" in stage.text()
        await stage.pilot.resize_terminal(200, 9)
        await stage.pilot.pause()
        assert "Too small: 1 row more." in stage.text()
        await stage.pilot.press("ctrl+q")
        assert stage.app._exit


async def test_at_the_least_size_one_can_ask_read_and_find_help() -> None:
    async with on_stage(size=LEAST) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        await stage.pilot.press("f2")
        assert "F1" in stage.text()
        assert "31 March 2027" in str(stage.app.chat.conversation.turns[-1].text)
        for key in ("f1", "f3", "f9", "ctrl+p", "ctrl+t", "ctrl+o", "f5", "f7", "ctrl+e"):
            await stage.pilot.press(key)
            await stage.pilot.pause()
            assert stage.app.screen is not stage.app.chat, key
            await stage.pilot.press("escape")
            await stage.until(lambda: stage.app.screen is stage.app.chat, f"back from {key}")


async def test_a_resize_in_mid_answer_loses_nothing() -> None:
    go_on = threading.Event()

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield AnswerText("The lease ends on **31 March 2027** [1], ")
        go_on.wait(20)
        yield AnswerText("with two months' notice [2].")
        yield Finished(
            answer_of(trace, "The lease ends on **31 March 2027** [1], with two months' notice [2].")
        )

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("When does the lease end?")
        await stage.until(lambda: "31 March" in stage.text(), "the beginning")
        for size in (NARROW, (30, 8), LEAST, (160, 50)):
            await stage.pilot.resize_terminal(*size)
            await stage.pilot.pause()
        go_on.set()
        await stage.answered()
        assert "with two months' notice" in stage.words()
        assert len(stage.app.chat.sources.cards) == 4


async def test_a_paste_of_many_lines_in_any_script_stays_in_the_prompt() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        stage.app.post_message(Paste(MIXED + "\nlast\n"))
        await stage.until(lambda: "last" in stage.app.chat.prompt.text, "the paste")
        assert stage.app.chat.prompt.text == MIXED + "\nlast\n"
        assert stage.workspace.questions == []
        widths = {line.cell_length for line in stage.app.screen._compositor.render_strips()}
        assert widths == {80}


@pytest.mark.parametrize("size", [NARROW, LEAST])
async def test_every_conversation_is_one_line_whatever_its_title(size: tuple[int, int]) -> None:
    async with on_stage(size=size) as stage:
        await stage.opened()
        await stage.ask("When does the lease end, and how much notice do I have to give before I leave it?")
        await stage.pilot.press("f5")
        await stage.until(lambda: isinstance(stage.app.screen, ConversationsScreen), "the list")
        options = stage.app.screen.query_one(OptionList)
        await stage.until(lambda: options.option_count > 0 and options.size.height > 0, "the conversations")
        await stage.pilot.pause(0.1)
        assert options.size.height == options.option_count == 1
        await stage.pilot.resize_terminal(60, 24)
        await stage.pilot.pause(0.2)
        assert options.size.height == options.option_count == 1


async def test_the_welcome_says_when_notes_would_leave_this_machine() -> None:
    away = replace(HEALTHY, host="http://10.0.0.7:11434", loopback=False)
    async with on_stage(Scene(health=away), welcome=True) as stage:
        await stage.until(lambda: "▲ notes leave this machine" in stage.text(), "the warning")
        assert "● Ollama answers" in stage.text()
