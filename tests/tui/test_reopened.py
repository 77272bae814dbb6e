"""A conversation that is opened again says what it said when it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ragchat.answering.events import AnswerEvent, Finished, Retrieved
from ragchat.answering.export import export_markdown
from ragchat.answering.turn import Turn
from ragchat.errors import UsageError
from ragchat.retrieval.filters import Filters
from ragchat.retrieval.trace import LiteralMatch, RetrievalTrace, Threshold
from tests.tui.fake_workspace import (
    Scene,
    answer_of,
    answered_trace,
    candidate,
    passages,
    refused_trace,
    trace_of,
)
from tests.tui.stage import Stage, on_stage
from tests.tui.test_screen import over_a_part


def kept(stage: Stage) -> tuple[Turn, ...]:
    session = stage.app.session
    assert session is not None
    return session.talks.current.turns()


async def reopened(stage: Stage) -> str:
    """The words of the conversation, read back from its file."""
    session, before = stage.app.session, stage.app.chat.conversation.turns
    assert session is not None
    session.talks.resume(session.talks.current.id)
    conversation = stage.app.chat.conversation
    await stage.until(
        lambda: bool(conversation.turns) and conversation.turns[0] not in before, "opening again"
    )
    await stage.until(lambda: conversation.turns[-1].has_class("finished"), "its notes")
    await stage.pilot.pause()
    return stage.words()


async def test_a_follow_up_comes_back_with_the_users_own_words() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        if question == "And how much is it?":
            filters = Filters(within=("house/",))
            trace = replace(trace, filters=filters, typed=question, typed_before="in:house/ When?")
        yield Finished(answer_of(trace, "Nine [1].", question=trace.asked))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("in:house/ When?")
        await stage.pilot.press(*"And how much is it?", "ctrl+f")
        await stage.until(lambda: len(kept(stage)) == 2, "the follow-up")
        await stage.answered()
        assert kept(stage)[1].question == "And how much is it?"
        words = await reopened(stage)
        assert "You And how much is it?" in words
        assert "↳ searched as: in:house/ When? And how much is it?" in words
        stage.app.chat.conversation.focus()
        await stage.pilot.press("r")
        await stage.until(lambda: len(stage.workspace.followed) == 3, "asking again")
        assert stage.workspace.followed[-1] == "in:house/ When?"


async def test_a_refusal_comes_back_with_its_nearest_passage_and_why() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("Why is the sky blue?")
        why = "a threshold of 0.662 would admit it; it is 0.520 (auto: 5 % of 231 off-topic questions pass)"
        for words in (stage.words(), await reopened(stage)):
            told = " ".join(words.replace("\N{NO-BREAK SPACE}", " ").split())
            assert "house/lease.md · Lease > Term at 0.662 “The term begins" in told
            assert why in told
        assert "nearest 0.662" in stage.words("#sources")
        exported = export_markdown(kept(stage), Path("/notes"))
        assert r"Nearest: [house/lease\.md](<file:///notes/house/lease.md#char=68,166>)" in exported
        assert "> The term begins on 1 April 2024" in exported
        assert "threshold of 0.662 would admit it; it is 0.520" in exported


async def test_a_refusal_that_was_asked_again_by_itself_is_kept_once() -> None:
    whole = threading.Event()

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        if whole.is_set():
            yield Finished(answer_of(answered_trace(question), "On 31 March 2027 [1]."))
        else:
            yield Finished(answer_of(over_a_part(refused_trace(question)), None))

    async with on_stage(Scene(hold=whole, script=script)) as stage:
        await stage.until(lambda: stage.app.session is not None and stage.app.session.is_open, "opening")
        await stage.ask("When does the lease end?")
        await stage.ask("Where?")
        session = stage.app.session
        assert session is not None
        asked_in = session.talks.current
        session.talks.begin()  # what is asked again stays where it was asked
        await stage.until(lambda: session.talks.current is not asked_in, "another conversation")
        whole.set()
        await stage.until(lambda: all(turn.text for turn in asked_in.turns()), "the answers in their places")
        assert [turn.question for turn in asked_in.turns()] == ["When does the lease end?", "Where?"]
        assert session.talks.current.turns() == ()


async def test_a_turn_that_could_not_be_asked_comes_back_with_why() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        if question.startswith("tag:"):
            raise UsageError("tag:tex: no note has this tag; did you mean tax", hint="ragchat status")
        yield Finished(answer_of(answered_trace(question), "Fine [1]."))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("When?")
        await stage.ask("tag:tex How much?")
        await stage.pilot.press(*"And?", "ctrl+f")
        await stage.until(lambda: len(kept(stage)) == 3, "the follow-up")
        assert stage.workspace.followed[-1] == "When?"  # what could not be asked is nothing to follow
        await stage.answered()
        words = " ".join((await reopened(stage)).split())
        assert "You tag:tex How much?" in words
        assert "✗ not answered" in words
        assert "tag:tex: no note has this tag; did you mean tax" in words
        assert "ragchat status" in words
        assert "nan" not in words.replace("finance", "")
        exported = export_markdown(kept(stage), Path("/notes"))
        assert "*Not asked: tag:tex: no note has this tag; did you mean tax*" in exported
        assert "nan" not in exported
        stage.app.chat.conversation.focus()
        await stage.pilot.press("up")
        assert "threshold" not in stage.words("#sources")


def taken(question: str) -> RetrievalTrace:
    """Two sources, the first let through by hand."""
    (far, _), (near, _) = passages()[:2]
    first = candidate(1, far, 0.912, fused=1)
    trace = trace_of(question, [first, candidate(2, near, 0.401, fused=2)], LiteralMatch("Brandt", first))
    return replace(trace, threshold=Threshold(0.595, "calibrated"))


async def test_an_answer_that_went_past_the_gate_says_so_for_good() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = taken(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "Brandt does [1]."))

    told = (
        "▲ [1] went past the gate: taken by hand because “Brandt” stands there word for word, at 0.912, "
        "beyond the threshold of 0.595"
    )
    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("Who is Brandt?")
        assert told in " ".join(stage.words().split())
        assert told in " ".join((await reopened(stage)).split())
        assert "“Brandt” stands there word for word, at 0" in export_markdown(kept(stage), Path("/notes"))
