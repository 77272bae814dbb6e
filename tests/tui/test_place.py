"""The reader's place in the conversation: the end while it streams, the beginning of what is finished."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ragchat.answering.events import AnswerEvent, AnswerText, Finished, Retrieved
from ragchat.answering.turn import TurnSource, turn_of
from ragchat.tui.formatting import short_place
from tests.tui.fake_workspace import Scene, Script, answer_of, answered_trace
from tests.tui.stage import NARROW, WIDE, Stage, on_stage

PARAGRAPHS = "\n\n".join(f"Paragraph {n} says the one thing it says, at some length. [1]" for n in range(40))


def pausing(text: str, go_on: threading.Event) -> Script:
    """Streams the first two thirds, and the rest when it may go on."""

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        cut = 2 * len(text) // 3
        yield Retrieved(trace)
        yield AnswerText(text[:cut])
        go_on.wait(10)
        yield AnswerText(text[cut:])
        yield Finished(answer_of(trace, text))

    return script


def first_line(stage: Stage) -> str:
    region = stage.app.chat.conversation.region
    return stage.text().split("\n")[region.y + 1]


def first_paragraph(stage: Stage) -> int:
    found = re.search(r"Paragraph (\d+)", stage.text())
    assert found is not None
    return int(found[1])


async def streaming(stage: Stage) -> None:
    await stage.opened()
    stage.begin("When does the lease end?")
    await stage.until(lambda: "Paragraph 25" in stage.text(), "the stream")


@pytest.mark.parametrize("size", [NARROW, WIDE], ids=["80x24", "120x36"])
async def test_a_finished_answer_stands_from_its_beginning(size: tuple[int, int]) -> None:
    go_on = threading.Event()
    go_on.set()
    async with on_stage(Scene(script=pausing(PARAGRAPHS, go_on)), size=size) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        assert "You  When does the lease end?" in first_line(stage)
        assert "Paragraph 0 " in stage.text()
        assert "more: PgDn" in stage.text()
        await stage.pilot.press("pagedown")
        assert "Paragraph 0 " not in stage.text()
        assert "Paragraph" in stage.text()


async def test_a_long_question_leaves_the_place_to_its_answer() -> None:
    go_on = threading.Event()
    go_on.set()
    async with on_stage(Scene(script=pausing(PARAGRAPHS, go_on)), size=NARROW) as stage:
        await stage.opened()
        await stage.ask("\n".join(f"line {n} of what was pasted" for n in range(7)))
        assert "ragchat" in first_line(stage)
        assert "Paragraph 0 " in stage.text()


async def test_a_short_answer_leaves_the_turn_before_in_view() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        await stage.ask("When does the lease end, once more?")
        assert "You  When does the lease end?" in stage.text()
        conversation = stage.app.chat.conversation
        assert conversation.scroll_y == conversation.max_scroll_y
        assert "more: PgDn" not in stage.text()


async def test_the_end_is_followed_while_it_streams_also_through_a_resize() -> None:
    go_on = threading.Event()
    async with on_stage(Scene(script=pausing(PARAGRAPHS, go_on)), size=WIDE) as stage:
        await streaming(stage)
        conversation = stage.app.chat.conversation
        for size in ((70, 20), (120, 36)):
            await stage.pilot.resize_terminal(*size)
            await stage.until(lambda: conversation.scroll_y == conversation.max_scroll_y > 0, "the end")
            await stage.until(lambda: "Paragraph 25" in stage.text(), "the end")
        go_on.set()
        await stage.answered()


async def test_what_was_scrolled_to_stays_through_stream_resize_and_end() -> None:
    go_on = threading.Event()
    async with on_stage(Scene(script=pausing(PARAGRAPHS, go_on)), size=WIDE) as stage:
        await streaming(stage)
        conversation = stage.app.chat.conversation
        conversation.scroll_to(y=22, animate=False)
        await stage.pilot.pause()
        top = first_paragraph(stage)
        assert 5 < top < 20
        for size in ((60, 24), (100, 30), (120, 36)):
            await stage.pilot.resize_terminal(*size)
            await stage.until(lambda: first_paragraph(stage) == top, f"the place at {size}")
        go_on.set()
        await stage.answered()
        assert first_paragraph(stage) == top


async def test_a_conversation_that_is_opened_stands_from_its_last_answer_each_time() -> None:
    turns = tuple(
        replace(turn_of(answer_of(answered_trace(f"Question {n}?"), PARAGRAPHS)), id=f"turn {n}")
        for n in range(3)
    )
    async with on_stage(Scene(turns=turns), size=NARROW) as stage:
        await stage.opened()
        session = stage.app.session
        assert session is not None
        await stage.until(lambda: "You  Question 2?" in first_line(stage), "the last turn")
        for _ in range(2):  # the second time nothing of it changes its size
            shown = stage.app.chat.conversation.turns
            session.talks.resume(session.talks.current.id)
            await stage.until(lambda shown=shown: not shown[-1].is_attached, "the turns anew")  # type: ignore[misc]
            await stage.until(lambda: "You  Question 2?" in first_line(stage), "the last turn")


async def test_arrows_read_a_long_answer_to_its_end_before_they_leave_it() -> None:
    turns = tuple(
        replace(turn_of(answer_of(answered_trace(f"Question {n}?"), PARAGRAPHS)), id=f"turn {n}")
        for n in range(2)
    )
    async with on_stage(Scene(turns=turns), size=NARROW) as stage:
        await stage.opened()
        await stage.until(lambda: "You  Question 1?" in first_line(stage), "the last turn")
        conversation = stage.app.chat.conversation
        first, last = conversation.turns
        conversation.focus()
        await stage.pilot.press("up")  # it stands at its beginning
        await stage.until(lambda: conversation.selected is first, "the turn before")
        await stage.until(lambda: "You  Question 0?" in first_line(stage), "its beginning")
        seen = []
        while conversation.selected is first:
            seen.append(stage.text())
            assert len(seen) < 20
            await stage.pilot.press("down")
        for number in range(40):
            assert any(f"Paragraph {number} " in text for text in seen)
        await stage.until(lambda: "You  Question 1?" in first_line(stage), "the beginning of the next")
        await stage.pilot.press("down", "up")
        assert conversation.selected is last
        assert "You  Question 1?" in first_line(stage)


@pytest.mark.parametrize(
    ("locator", "told"),
    [
        ("", ""),
        ("page=12", "page 12"),
        ("t=5,190", "0:05–3:10"),
        ("t=132.4,3700.9", "2:12–1:01:40"),
        ("t=nan,1", "t nan,1"),  # anybody may have written the conversation's file
        ("sheet=My! Budget!A1:C5", "A1:C5"),
        ("cell=7", "cell 7"),
    ],
)
def test_in_one_line_a_source_names_its_range_behind_its_page_or_time(locator: str, told: str) -> None:
    source = TurnSource(1, "a", "", 17, 98, 3, 9, locator, 0.3, "words", cited=True)
    assert short_place(source) == f"{told} #char=17,98".lstrip()


async def test_a_pane_fills_the_whole_screen_and_gives_it_back() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        chat = stage.app.chat
        await stage.pilot.press("f8")
        assert chat.conversation.region.height == 23  # all but the line of keys
        assert chat.conversation.has_focus
        await stage.pilot.press("f8")
        assert chat.sources.region.height == 6
        chat.sources.focus()
        await stage.pilot.press("z")
        assert chat.sources.region.height == 23
        assert (
            "“The term begins on 1 April 2024" in stage.text()
        )  # the quotes too, which a drawer has no room for
        await stage.pilot.press("z")
        assert "“The term begins" not in stage.text()
        await stage.pilot.press(
            "z", "question_mark"
        )  # what is typed goes to the prompt, which is there again
        assert chat.prompt.has_focus
        assert chat.prompt.region.height > 0
        assert chat.prompt.text == "?"
        chat.prompt.clear()
        await stage.pilot.press("f8", "escape")
        assert chat.prompt.has_focus
        assert not chat.is_zoomed
        await stage.pilot.press("f8", "e")
        assert chat.prompt.text == "When does the lease end?"
        assert chat.prompt.region.height > 0
