"""A question from the prompt to its answer: streaming, stopping, refusing, failing, quitting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from textual.widgets import Markdown

from ragchat.answering.events import AnswerEvent, AnswerText, Finished, Retrieved, Thinking, Waiting
from ragchat.errors import EmbedderUnavailable, IndexMissing, UsageError
from ragchat.tui.app import RagchatApp
from ragchat.tui.widgets.answer_text import AnswerText as AnswerWidget
from ragchat.tui.widgets.turn import TurnView
from tests.tui.fake_workspace import (
    ANSWER,
    Scene,
    answer_of,
    answered_trace,
    turn_of,
)
from tests.tui.stage import NARROW, on_stage


def slow(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
    """Waits, thinks, says one word after another until it is stopped."""
    trace = answered_trace(question)
    yield Retrieved(trace)
    yield Waiting("qwen3:4b", 12.0)
    yield Thinking("Let me look at the lease.")
    text = ""
    for number in range(2000):
        text += f"word{number} "
        yield AnswerText(f"word{number} ")
        if cancel.wait(0.01):
            yield Finished(answer_of(trace, text, outcome="stopped"))
            return
    yield Finished(answer_of(trace, text))


async def test_an_answer_is_streamed_cited_and_kept() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("When does the lease end?")
        turn = stage.app.chat.conversation.turns[-1]
        assert turn.text == ANSWER
        assert [card.source.number for card in stage.app.chat.sources.cards] == [1, 2, 3, 4]
        assert "31 March 2027 [1]" in stage.text()
        assert "#char=68,166 · L7 · cited" in stage.text()
        assert [kept.question for kept in stage.workspace.kept.turns()] == ["When does the lease end?"]
        assert stage.app.chat.prompt.text == ""


async def test_while_somebody_types_the_answer_is_drawn_behind_a_key() -> None:
    async with on_stage(Scene(script=slow)) as stage:
        await stage.opened()
        stage.begin("Tell me everything")
        await stage.until(lambda: "word3" in stage.text(), "the stream")
        drawn = []
        turn = stage.app.chat.conversation.turns[-1]

        async def draw() -> None:
            drawn.append(stage.app.chat.prompt.text)

        turn._draw_pending = draw  # type: ignore[method-assign]
        typed = [""]
        for letter in "everything":
            stage.app.simulate_key(letter)
            typed.append(typed[-1] + letter)
            await stage.pilot.pause(0.15)
        assert set(drawn) <= set(typed[1:])
        assert 1 <= len(drawn) <= 4  # not at each key: the next one may come while it is drawn
        await stage.pilot.press("escape")


async def test_without_a_key_the_answer_is_drawn_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RagchatApp, "is_typing", True)
    draw, waited = TurnView._draw_pending, []

    async def noted(turn: TurnView) -> None:
        waited.append(time.monotonic() - turn._pending_since)
        await draw(turn)

    monkeypatch.setattr(TurnView, "_draw_pending", noted)
    async with on_stage(Scene(script=slow)) as stage:
        await stage.opened()
        stage.begin("Tell me everything")
        await stage.until(lambda: "word0" in stage.text(), "the drawing")
        assert waited[0] >= 1.0
        await stage.pilot.press("escape")


async def test_escape_stops_first_and_the_partial_answer_stays_marked() -> None:
    async with on_stage(Scene(script=slow)) as stage:
        await stage.opened()
        stage.begin("Tell me everything")
        await stage.until(lambda: "word3" in stage.text(), "the stream")
        assert "esc Stop" in stage.text()
        await stage.pilot.press("escape")
        await stage.answered()
        turn = stage.app.chat.conversation.turns[-1]
        assert turn.text.startswith("word0 word1")
        assert "stopped by you" in stage.text()
        assert stage.app.is_running
        assert "esc Quit" in stage.text()


async def test_nothing_bleeds_from_a_stopped_answer_into_the_next() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        if question == "first":
            yield AnswerText("old ")
            cancel.wait(5)
            yield AnswerText("late ")  # a server that says one thing more
            yield Finished(answer_of(trace, "old late", outcome="stopped"))
        else:
            yield AnswerText("new words")
            yield Finished(answer_of(trace, "new words"))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("first")
        await stage.until(lambda: "old" in stage.text(), "the first words")
        await stage.pilot.press("escape")
        await stage.answered()
        await stage.ask("second")
        first, second = stage.app.chat.conversation.turns
        assert second.text == "new words"
        assert "old" not in second.text
        assert first.text == "old late"


async def test_a_question_asked_meanwhile_waits_in_the_prompt() -> None:
    async with on_stage(Scene(script=slow)) as stage:
        await stage.opened()
        stage.begin("one")
        await stage.until(lambda: "word1" in stage.text(), "the stream")
        stage.begin("two")
        await stage.until(lambda: "Still answering" in stage.text(), "the word")
        assert stage.app.chat.prompt.text == "two"
        assert [question for question, _ in stage.workspace.questions] == ["one"]
        await stage.pilot.press("escape")


async def test_waiting_and_thinking_are_shown_in_their_own_places() -> None:
    gate = threading.Event()

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Waiting("qwen3:4b", 12.0)
        gate.wait(5)
        yield Thinking("secret deliberation")
        yield AnswerText("Plain answer [1].")
        yield Finished(answer_of(trace, "Plain answer [1]."))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("why?")
        await stage.until(lambda: "loading qwen3:4b … 12 s" in stage.text(), "waiting")
        gate.set()
        await stage.answered()
        assert "· 19 characters, not part of the answer" in stage.text()
        assert "secret deliberation" not in stage.text()
        stage.app.chat.conversation.focus()
        await stage.pilot.press("t")
        await stage.until(lambda: "secret deliberation" in stage.text(), "unfolding")
        assert (
            stage.app.chat.conversation.turns[-1].copyable
            == "Plain answer [1].\n\n[1] house/lease.md#char=68,166"
        )


async def test_a_refusal_explains_itself_and_offers_the_literal_match() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.ask("What does error E1234 mean?")
        text = stage.text()
        assert 'NO ANSWER: nothing under cosine distance 0.520 for "What' in text
        assert "a threshold of 0.662 would admit it; it is 0.520" in text
        assert "shows all 6 candidates" in text
        assert stage.app.chat.sources.cards == []
        await stage.pilot.press("ctrl+g")
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 2, "asking again")
        await stage.answered()
        assert stage.workspace.questions[-1] == ("What does error E1234 mean?", frozenset({2}))


async def test_an_abstention_is_shown_as_such_and_its_sources_are_no_evidence() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "The sources do not say.", abstained=True))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("Who painted it?")
        assert "the sources lack the answer" in stage.text()
        assert "no evidence" in str(stage.app.chat.sources.border_title)


async def test_a_quotation_is_labelled_and_says_what_to_start() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        notice, hint = "no model server answers at http://127.0.0.1:11434", "ollama serve"
        yield Finished(
            answer_of(trace, "“…” [1]", answered_by="quotation", model=None, notice=notice, hint=hint)
        )

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("When?")
        text = stage.text()
        assert "quotation, word for word" in text
        assert "no model server answers" in text
        assert "ollama serve" in text


async def test_a_number_without_a_source_is_marked_without_colour() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "True [1]. Invented [7]."))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("When?")
        assert "Invented [7]✗" in stage.text()
        assert "no source has the number [7]" in stage.text()


async def test_an_answer_that_ends_in_a_code_fence_is_still_there_afterwards() -> None:
    text = "Run:\n\n```sh\nragchat index\n```"

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        for character in text:
            yield AnswerText(character)
        yield Finished(answer_of(trace, text))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("How?")
        await stage.until(lambda: "ragchat index" in stage.text(), "the code")


async def test_a_failure_keeps_the_partial_answer_and_names_the_next_step() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield AnswerText("The lease")
        yield Finished(
            answer_of(trace, "The lease", outcome="failed", error="the answer broke off", hint="ollama serve")
        )

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("When?")
        assert "The lease" in stage.text()
        assert "the answer broke off" in stage.text()
        assert "ollama serve" in stage.text()


async def test_an_error_before_any_event_is_one_clear_line_and_the_next_question_works() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        if question == "bad":
            raise EmbedderUnavailable("the embedding model cannot be loaded", hint="ragchat doctor")
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "Fine [1]."))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("bad")
        assert "cannot be loaded" in stage.text()
        assert "ragchat doctor" in stage.text()
        await stage.ask("good")
        assert "Fine [1]" in stage.text()


def _before_any_note_is_read(read: threading.Event) -> Scene:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        if not read.is_set():
            raise IndexMissing("the folder has no index yet", hint="ragchat index")
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "On 31 March 2027 [1]."))

    return Scene(indexed=0, chunks=0, script=script, hold=threading.Event())


async def test_a_question_before_anything_is_read_is_answered_as_soon_as_something_is() -> None:
    read = threading.Event()
    async with on_stage(_before_any_note_is_read(read)) as stage:
        await stage.until(lambda: stage.app.session is not None and stage.app.session.is_open, "opening")
        stage.begin("When?")
        await stage.until(lambda: "waiting until the first notes are read" in stage.text(), "waiting")
        read.set()
        await stage.answered()
        assert "On 31 March 2027 [1]." in stage.text()


async def test_a_question_that_waits_for_the_first_note_can_be_stopped() -> None:
    async with on_stage(_before_any_note_is_read(threading.Event())) as stage:
        await stage.until(lambda: stage.app.session is not None and stage.app.session.is_open, "opening")
        stage.begin("When?")
        await stage.until(lambda: "waiting until the first notes are read" in stage.text(), "waiting")
        await stage.pilot.press("escape")
        await stage.answered()
        assert "nothing of ~/notes is read yet" in stage.text()


async def test_where_no_note_could_be_read_a_question_says_why() -> None:
    scene = _before_any_note_is_read(threading.Event())
    async with on_stage(scene) as stage:
        await stage.until(lambda: stage.app.session is not None and stage.app.session.indexing, "indexing")
        stage.begin("When?")
        await stage.until(lambda: "waiting until the first notes are read" in stage.text(), "waiting")
        assert scene.hold is not None
        scene.hold.set()
        await stage.answered()
        assert "no index yet" in stage.text()


async def test_quitting_in_mid_stream_is_prompt() -> None:
    async with on_stage(Scene(script=slow)) as stage:
        await stage.opened()
        stage.begin("long")
        await stage.until(lambda: "word1" in stage.text(), "the stream")
        start = time.monotonic()
        stage.app.session.close()  # type: ignore[union-attr]
        assert time.monotonic() - start < 0.3
    assert time.monotonic() - start < 1.5  # with the test harness's own shutdown
    assert stage.workspace.kept.turns()[-1].outcome == "stopped"


async def test_a_silent_server_does_not_hold_up_quitting() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        yield Retrieved(answered_trace(question))
        time.sleep(3)  # deaf to cancel

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("anyone?")
        await stage.until(lambda: "sources found" in stage.text(), "the sources")
        start = time.monotonic()
    assert time.monotonic() - start < 1.5


async def test_the_kept_conversation_comes_back_and_earlier_turns_on_demand() -> None:
    trace = answered_trace("q")
    turns = tuple(turn_of(answer_of(answered_trace(f"question {n}"), f"answer {n} [1]")) for n in range(30))
    assert trace.sources
    async with on_stage(Scene(turns=turns)) as stage:
        await stage.opened()
        await stage.until(lambda: "answer 29" in stage.text(), "the last turn")
        drawn = len(stage.app.chat.conversation.turns)
        assert drawn < 30
        stage.app.chat.conversation.focus()
        await stage.pilot.press(*["up"] * drawn)
        await stage.until(lambda: len(stage.app.chat.conversation.turns) > drawn, "earlier turns")


async def test_the_drawer_opens_by_itself_after_an_answer_and_not_after_a_refusal() -> None:
    async with on_stage(size=NARROW) as stage:
        await stage.opened()
        assert not stage.app.chat.sources.display or not stage.app.chat.drawer_is_open
        await stage.ask("When does the lease end?")
        assert stage.app.chat.drawer_is_open
        assert stage.app.chat.sources.region.height > 0
        await stage.ask("Why is the sky blue?")
        assert not stage.app.chat.drawer_is_open


async def test_links_of_the_model_are_plain_text_and_only_our_marks_can_be_clicked() -> None:
    text = "See [here](https://evil.example) and <https://evil.example> and https://evil.example [1]"

    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, text))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("When?")
        body = stage.app.chat.conversation.query_one(AnswerWidget)
        links = [
            action
            for block in body.query("MarkdownBlock")
            for span in getattr(block, "_content").spans  # noqa: B009
            for action in [getattr(span.style, "meta", {}).get("@click")]
            if action
        ]
        assert links == ["link('ragchat-source:1')"]
        assert "[here](https://evil.example)" in stage.text()
        assert isinstance(body, Markdown)


async def test_a_question_with_a_mistaken_filter_comes_back_to_be_mended() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        yield from ()
        raise UsageError("in:hause/: no note's name begins so", hint="there are house/")

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("in:hause/ When does the lease end?")
        await stage.until(lambda: "no note's name begins so" in stage.text(), "the word")
        assert stage.app.chat.prompt.text == "in:hause/ When does the lease end?"
