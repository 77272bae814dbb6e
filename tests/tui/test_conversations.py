"""Turns are copied, asked again, edited, deleted, branched; conversations are found, named, gone on with."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from ragchat.answering.events import AnswerEvent, Finished, Retrieved
from ragchat.tui.screens.confirm import ConfirmScreen
from ragchat.tui.screens.conversations import ConversationsScreen
from tests.tui.fake_workspace import Scene, Script, answer_of, answered_trace, turn_of
from tests.tui.stage import NARROW, Stage, on_stage

CODE = "Run this [1]:\n\n```sh\nragchat index\n```\n\nand then\n\n~~~\nls\n~~~\n"


def saying(text: str) -> Script:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, text))

    return script


async def asked(stage: Stage, *questions: str) -> None:
    await stage.opened()
    for question in questions:
        await stage.ask(question)


def questions(stage: Stage) -> list[str]:
    return [turn.question for turn in stage.app.chat.conversation.turns]


def kept(stage: Stage) -> list[str]:
    session = stage.app.session
    assert session is not None
    return [turn.question for turn in session.talks.current.turns()]


async def confirmed(stage: Stage) -> None:
    await stage.until(lambda: isinstance(stage.app.screen, ConfirmScreen), "the question")
    await stage.pilot.press("y")


async def found(stage: Stage, number: int) -> None:
    await stage.pilot.press("f5")
    await stage.until(lambda: isinstance(stage.app.screen, ConversationsScreen), "the list")
    await listed(stage, number)


async def listed(stage: Stage, number: int) -> None:
    await stage.until(lambda: stage.app.screen.query_one("OptionList").option_count == number, "the rows")  # type: ignore[attr-defined]


async def test_code_blocks_are_copied_one_after_another(clipboard: list[str]) -> None:
    async with on_stage(Scene(script=saying(CODE))) as stage:
        await asked(stage, "How?")
        stage.app.chat.conversation.focus()
        await stage.pilot.press("c")
        await stage.until(lambda: "Copied code block 1 of 2" in stage.text(), "the word")
        await stage.pilot.press("c", "c")
        assert clipboard == ["ragchat index", "ls", "ragchat index"]
        await stage.pilot.press("y")
        assert clipboard[-1] == CODE.rstrip() + "\n\n[1] house/lease.md#char=68,166"


async def test_an_answer_without_code_says_so() -> None:
    async with on_stage() as stage:
        await asked(stage, "When?")
        stage.app.chat.conversation.focus()
        await stage.pilot.press("c")
        await stage.until(lambda: "has no code block" in stage.text(), "the word")


async def test_a_turn_is_asked_again_edited_and_deleted() -> None:
    async with on_stage() as stage:
        await asked(stage, "one", "two", "three")
        conversation = stage.app.chat.conversation
        conversation.focus()
        await stage.pilot.press("up", "r")
        await stage.until(lambda: questions(stage) == ["one", "two", "three", "two"], "asking again")
        await stage.answered()
        await stage.pilot.press("up", "up", "up", "e")
        assert stage.app.chat.prompt.text == "one"
        assert stage.app.focused is stage.app.chat.prompt
        stage.app.chat.prompt.put("")
        conversation.focus()
        await stage.pilot.press("down", "d")
        await confirmed(stage)
        await stage.until(lambda: questions(stage) == ["one", "three", "two"], "deleting")
        assert kept(stage) == ["one", "three", "two"]
        assert conversation.selected is conversation.turns[1]
        for _ in range(3):
            conversation.focus()
            await stage.pilot.press("d")
            await confirmed(stage)
            await stage.until(lambda: stage.app.screen is stage.app.chat, "coming back")
            await stage.pilot.pause(0.1)
        await stage.until(lambda: not conversation.turns, "the last one")
        assert "ready" in stage.words()


async def test_a_branch_goes_on_from_a_turn_and_both_are_listed() -> None:
    async with on_stage() as stage:
        await asked(stage, "one", "two", "three")
        stage.app.chat.conversation.focus()
        await stage.pilot.press("up", "b")
        await stage.until(lambda: questions(stage) == ["one", "two"], "the branch")
        await stage.ask("another way")
        assert kept(stage) == ["one", "two", "another way"]
        await found(stage, 2)
        assert "✓ one (branch)" in stage.text()
        await stage.pilot.press("down", "enter")
        await stage.until(lambda: questions(stage) == ["one", "two", "three"], "the other")


async def test_conversations_are_searched_named_gone_on_with_and_deleted() -> None:
    async with on_stage() as stage:
        await asked(stage, "When does the lease end?")
        await stage.pilot.press("ctrl+n")
        await stage.until(lambda: not stage.app.chat.conversation.turns, "the new one")
        await stage.ask("What does error E1234 mean?")
        await found(stage, 2)
        await stage.pilot.press(*"lease", "f2")
        await listed(stage, 1)
        await stage.pilot.press("ctrl+u", *"My flat", "enter")  # the whole title goes
        await stage.until(lambda: "My flat" in stage.text(), "the title")
        await listed(stage, 2)
        await stage.pilot.press(*"flat")
        await listed(stage, 1)
        await stage.pilot.press("enter")
        await stage.until(lambda: questions(stage) == ["When does the lease end?"], "going on")
        await stage.ask("And the notice?")
        assert kept(stage) == ["When does the lease end?", "And the notice?"]
        await found(stage, 2)
        await stage.pilot.press("f8")
        await confirmed(stage)
        await listed(stage, 1)
        await stage.pilot.press("escape")
        await stage.until(lambda: not stage.app.chat.conversation.turns, "a new one")
        await stage.ask("after all")
        assert kept(stage) == ["after all"]


async def test_a_follow_up_is_asked_by_its_own_key_and_shows_what_was_searched() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press(*"And?", "ctrl+f")
        await stage.until(lambda: "no question before" in stage.text(), "the word")
        stage.app.chat.prompt.put("")
        await stage.ask("When does the lease end?")
        await stage.pilot.press(*"And the notice?", "ctrl+f")
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 2, "the turn")
        await stage.answered()
        assert "↳ searched as: When does the lease end? And the notice?" in stage.words()
        await stage.ask("alone")
        assert stage.workspace.followed == ["", "When does the lease end?", ""]


async def test_nothing_switches_the_conversation_in_mid_answer() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        yield Retrieved(answered_trace(question))
        cancel.wait(30)
        yield Finished(answer_of(answered_trace(question), "", outcome="stopped"))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("long")
        await stage.until(lambda: "sources found" in stage.text(), "the sources")
        for key in ("f5", "ctrl+n"):
            await stage.pilot.press(key)
            await stage.until(lambda: "Still answering" in stage.text(), "the word")
            stage.app.clear_notifications()
        assert stage.app.screen is stage.app.chat
        await stage.pilot.press("escape")
        await stage.answered()
        assert kept(stage) == ["long"]


async def test_a_terminal_that_is_resized_in_mid_stream_loses_nothing() -> None:
    going = threading.Event()
    words = [f"語{n} " for n in range(200)]

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        from ragchat.answering.events import AnswerText

        trace = answered_trace(question)
        yield Retrieved(trace)
        for at, word in enumerate(words):
            yield AnswerText(word)
            if at == 100:
                going.wait(20)
        yield Finished(answer_of(trace, "".join(words)))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("long")
        await stage.until(lambda: "語100" in stage.text(), "the first half")
        for size in (NARROW, (30, 10), (200, 50), (120, 36)):
            await stage.pilot.resize_terminal(*size)
        going.set()
        await stage.answered()
        await stage.until(lambda: "語199" in stage.text(), "the end")
        assert stage.app.chat.conversation.turns[-1].text == "".join(words)
        for line in stage.text().splitlines():
            from rich.cells import cell_len

            assert cell_len(line) == 120


async def test_deleted_turns_of_an_earlier_session_are_deleted_too() -> None:
    turns = tuple(turn_of(answer_of(answered_trace(f"question {n}"), f"answer {n} [1]")) for n in range(3))
    async with on_stage(Scene(turns=turns)) as stage:
        await stage.opened()
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 3, "the turns")
        stage.app.chat.conversation.focus()
        await stage.pilot.press("d")
        await confirmed(stage)
        await stage.until(lambda: questions(stage) == ["question 0", "question 1"], "deleting")
        assert kept(stage) == ["question 0", "question 1"]


async def test_a_long_conversation_draws_only_its_latest_turns_and_all_can_be_reached() -> None:
    async with on_stage(Scene(script=saying("Yes [1]."))) as stage:
        await asked(stage, *(f"question {n}" for n in range(26)))
        conversation = stage.app.chat.conversation
        assert len(conversation.turns) == 18
        assert questions(stage)[-1] == "question 25"
        assert len(kept(stage)) == 26
        conversation.focus()
        await stage.pilot.press(*["up"] * 18)
        await stage.until(
            lambda: questions(stage) == [f"question {n}" for n in range(26)], "the earlier turns"
        )


async def test_nothing_is_offered_for_a_conversation_where_there_is_none() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await found(stage, 0)
        await stage.until(lambda: "There is none yet." in stage.text(), "the words")
        assert "F2 Rename" not in stage.text()
        assert "F8 Delete" not in stage.text()
        await stage.pilot.press("escape")
        await stage.ask("When does the lease end?")
        await found(stage, 1)
        assert "F2 Rename" in stage.text()
