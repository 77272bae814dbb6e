"""Sentences found or not found where they cite, by glyph and word; questions kept as to be refused."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.citations import attach_citations
from ragchat.answering.events import Support
from ragchat.evaluation.collection import collected_path
from ragchat.tui.support_marks import support_note, with_marks
from tests.tui.fake_workspace import Scene, answer_of
from tests.tui.outcomes import saying
from tests.tui.stage import FOLDER, Stage, on_stage

TRUE = "The term ends on 31 March 2027 [1]."
FALSE = "The rent is 900 euro [1]."


def shown_of(text: str, *found: bool | None) -> str:
    """The text with marks, its lines being its sentences."""
    support, at = [], 0
    for line, each in zip(text.split("\n"), found, strict=True):
        support.append(Support(at, at + len(line), (1,), each))
        at += len(line) + 1
    return with_marks(text, attach_citations(text, 1), support)


def test_each_sentence_that_cites_has_its_glyph_and_wrong_numbers_theirs() -> None:
    assert shown_of("It ends [1].\nIt costs [1].\nHm.", True, False, None) == (
        "It ends [1]. ✓\nIt costs [1]. ○\nHm."
    )
    assert shown_of("It ends [7].", None) == "It ends [7]✗."


def test_code_and_tables_keep_their_form() -> None:
    fenced = "```\ncode [1]\n```"
    assert shown_of(fenced, True, True, True) == fenced
    table = "| a [1] | b |\n|---|---|"
    assert shown_of(table, True, None) == table


@given(st.text("ab[1]7.\n|`~ ", max_size=80), st.lists(st.booleans(), min_size=1, max_size=5))
def test_marks_only_add_glyphs(text: str, found: list[bool]) -> None:
    step = max(1, len(text) // len(found))
    support = [
        Support(at * step, min(len(text), (at + 1) * step), (1,), each) for at, each in enumerate(found)
    ]
    marked = with_marks(text, attach_citations(text, 1), support)
    for glyph in (" ✓", " ○", "✗"):
        marked = marked.replace(glyph, "")
    assert marked == text


def test_the_note_counts_and_quotes_and_proves_nothing() -> None:
    text = f"{TRUE}\n{FALSE}"
    ends = len(TRUE)
    mixed = [Support(0, ends, (1,), True), Support(ends + 1, len(text), (1,), False)]
    (line,) = support_note(text, mixed)
    assert line.label.plain == "○"
    assert f"1 of 2 not found in the source cited: “{FALSE}”" in line.words.plain
    (line,) = support_note(text, mixed[:1])
    assert line.label.plain == "✓"
    assert "the sentence is found in the source it cites" in line.words.plain
    assert "proof" not in line.words.plain
    assert support_note(text, [Support(0, ends, (), None)]) == []


async def answered(stage: Stage, question: str = "When does the lease end?") -> None:
    await stage.opened()
    await stage.ask(question)


async def test_an_answer_shows_which_of_its_sentences_are_found_where_they_cite(clipboard: list[str]) -> None:
    answer = f"{TRUE} {FALSE}"
    scene = Scene(script=saying(lambda trace: answer_of(trace, answer)), embeds=True)
    async with on_stage(scene) as stage:
        await answered(stage)
        await stage.until(lambda: "1 of 2 not found in the source cited" in stage.words(), "the check")
        assert "2027 [1]. ✓" in stage.words()
        assert "900 euro [1]. ○" in stage.words()
        await stage.pilot.press("ctrl+y")
        assert clipboard[-1] == f"{answer}\n\n[1] house/lease.md#char=68,166"  # without glyphs


async def test_the_marks_are_there_again_when_the_conversation_is_opened_again() -> None:
    scene = Scene(script=saying(lambda trace: answer_of(trace, f"{TRUE} {FALSE}")), embeds=True)
    async with on_stage(scene) as stage:
        await answered(stage)
        await stage.until(lambda: "1 of 2 not found in the source cited" in stage.words(), "the check")
        session = stage.app.session
        assert session is not None
        conversation = session.talks.current
        await stage.until(lambda: bool(conversation.turns()[0].support), "the keeping")
        session.talks.resume(conversation.id)
        conversation_shown = stage.app.chat.conversation
        await stage.until(lambda: conversation_shown.turns[-1].answer is None, "the earlier session's turn")
        await stage.until(lambda: "1 of 2 not found in the source cited" in stage.words(), "the marks")
        assert "2027 [1]. ✓" in stage.words()
        assert "900 euro [1]. ○" in stage.words()


async def test_x_keeps_the_question_as_to_be_refused_and_u_takes_it_back() -> None:
    async with on_stage() as stage:
        await answered(stage, "Why is the sky blue?")
        stage.app.chat.conversation.focus()
        await stage.pilot.press("x")
        await stage.until(lambda: "Kept as to be refused" in stage.text(), "the word")
        (kept,) = map(json.loads, collected_path(FOLDER).read_text("utf-8").splitlines())
        assert (kept["question"], kept["answerable"]) == ("Why is the sky blue?", False)
        await stage.pilot.press("u")
        await stage.until(lambda: "Taken back" in stage.text(), "the word")
        assert collected_path(FOLDER).read_text("utf-8") == ""


async def test_a_follow_up_is_not_kept_alone() -> None:
    async with on_stage() as stage:
        await answered(stage)
        stage.app.chat.prompt.put("And why?")
        await stage.pilot.press("ctrl+f")
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 2, "the turn")
        await stage.answered()
        stage.app.chat.conversation.focus()
        await stage.pilot.press("x")
        await stage.until(
            lambda: bool(stage.app.screen.query("Toast")) and "ask it in full" in stage.words("Toast"),
            "the word",
        )
        assert not collected_path(FOLDER).exists()
