"""What stands under an answer: its receipt, its thinking, what did not fit, and the one key that helps."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ragchat.answering.events import (
    Answer,
    AnswerEvent,
    AnswerText,
    Finished,
    Retrieved,
    Thinking,
    Waiting,
)
from ragchat.retrieval.trace import RetrievalTrace
from ragchat.tui.widgets.conversation import Conversation
from ragchat.tui.widgets.turn import TurnView
from tests.tui.fake_workspace import (
    HEALTHY,
    Scene,
    answer_of,
    answered_trace,
    turn_of,
)
from tests.tui.outcomes import CONTEXT, RECEIPT, crowded, saying, used_up, with_receipt
from tests.tui.stage import on_stage


async def test_a_receipt_stands_under_each_answer_also_when_it_is_opened_again() -> None:
    async with on_stage(Scene(script=saying(with_receipt))) as stage:
        await stage.opened()
        await stage.ask("When?")
        assert RECEIPT in stage.words()
        turns = stage.workspace.kept.turns()
    async with on_stage(Scene(turns=turns)) as stage:
        await stage.opened()
        await stage.until(lambda: RECEIPT in stage.words(), "the receipt")


async def test_a_prompt_that_the_server_cut_is_warned_of_plainly_then_and_later() -> None:
    def cut(trace: RetrievalTrace) -> Answer:
        return answer_of(trace, "In March [1].", context=replace(CONTEXT, truncated=True))

    warning = "the server cut the prompt"
    async with on_stage(Scene(script=saying(cut))) as stage:
        await stage.opened()
        await stage.ask("When?")
        assert warning in stage.words()
        assert "CUT by the server" in stage.words()
        turns = stage.workspace.kept.turns()
    async with on_stage(Scene(turns=turns)) as stage:
        await stage.opened()
        await stage.until(lambda: warning in stage.words(), "the warning")


async def test_sources_that_did_not_fit_are_listed_as_such_and_can_be_opened() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        yield Retrieved(answered_trace(question))
        trace = crowded(question, 2)
        yield Retrieved(trace)
        yield Finished(answer_of(trace, "In March [1].", context=replace(CONTEXT, sources=2, dropped=2)))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("When?")
        panel = stage.app.chat.sources
        assert [card.source.number for card in panel.cards] == [1, 2, 0, 0]
        assert "2 did not fit" in str(panel.border_title)
        assert stage.words("#sources").count("· did not fit") == 2
        assert "2 sources (2 did not fit)" in stage.words()
        panel.focus()
        await stage.pilot.press("down", "down", "enter")
        await stage.until(lambda: "3 of 4" in stage.text(), "the viewer")
        assert "a notice of two months" in stage.text()
        turns = stage.workspace.kept.turns()
    async with on_stage(Scene(turns=turns)) as stage:
        await stage.opened()
        await stage.until(lambda: len(stage.app.chat.sources.cards) == 4, "the cards")
        assert stage.words("#sources").count("· did not fit") == 2


async def test_a_refusal_because_nothing_fits_says_so_and_not_that_nothing_is_near() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = crowded(question, 0)
        yield Retrieved(trace)
        yield Finished(
            answer_of(
                trace,
                None,
                message='NO ANSWER: no source fits into the model\'s window for "When?"',
                notice="the window of tiny has 512 tokens, of which 256 are kept for its answer",
                hint="choose a model with a larger window",
            )
        )

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.ask("When?")
        text = stage.words()
        assert "no source fits into the model's window" in text
        assert "the window of tiny has 512 tokens" in text
        assert "choose a model with a larger window" in text
        assert "would admit it" not in text
        assert "Not one source fits" in stage.words("#sources")
        assert len(stage.app.chat.sources.cards) == 4
        turns = stage.workspace.kept.turns()
    async with on_stage(Scene(turns=turns)) as stage:
        await stage.opened()
        await stage.until(lambda: "the window of tiny has 512 tokens" in stage.words(), "the reason")


async def test_thinking_is_folded_with_its_duration_and_one_key_opens_it_from_the_prompt() -> None:
    def thought(trace: RetrievalTrace) -> Answer:
        return answer_of(trace, "In March [1].", timings_ms={"total": 9000.0, "thinking": 3200.0})

    script = saying(thought, Thinking("secret "), Thinking("deliberation"), AnswerText("In March [1]."))
    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        await stage.pilot.press("f4")
        await stage.until(lambda: "came without thinking" in stage.text(), "the word")
        await stage.ask("When?")
        assert "▸ thought for 3.2 s · 19 characters" in stage.words()
        assert "deliberation" not in stage.text()
        await stage.pilot.press("f4")
        await stage.until(lambda: "secret deliberation" in stage.text(), "unfolding")
        await stage.pilot.press("f4")
        await stage.until(lambda: "deliberation" not in stage.text(), "folding")
        assert (
            stage.app.chat.conversation.turns[-1].copyable
            == "In March [1].\n\n[1] house/lease.md#char=68,166"
        )


async def test_a_budget_used_up_by_thinking_is_asked_again_with_more_by_one_key() -> None:
    async with on_stage(Scene(script=saying(used_up, Thinking("on and on")))) as stage:
        await stage.opened()
        await stage.ask("When?")
        text = stage.words()
        assert "used up 4,608 tokens thinking and wrote no answer" in text
        assert "^g asks again with room for 8,192 tokens" in text
        assert "ollama.answer_tokens" not in text
        await stage.pilot.press("ctrl+g")
        await stage.until(lambda: len(stage.app.chat.conversation.turns) == 2, "asking again")
        await stage.answered()
        assert [question for question, _ in stage.workspace.questions] == ["When?", "When?"]
        assert stage.workspace.answer_tokens == [0, 8192]


async def test_a_missing_model_is_got_by_one_key_and_then_answers() -> None:
    def quoted(trace: RetrievalTrace) -> Answer:
        notice = "nope is not installed, so the notes are quoted; get it with: ragchat pull nope"
        return answer_of(trace, "“…” [1]", answered_by="quotation", model=None, notice=notice, pull="nope")

    async with on_stage(Scene(script=saying(quoted), model="nope")) as stage:
        await stage.opened()
        await stage.ask("When?")
        assert "^g gets nope now" in stage.words()
        await stage.pilot.press("ctrl+g")
        await stage.until(lambda: "nope ● ready" in stage.text(), "the model")
        assert stage.workspace.pulled == ["nope"]
        assert stage.workspace.probed == ["nope"]


async def test_without_any_model_the_empty_screen_offers_one_by_one_key() -> None:
    async with on_stage(Scene(health=replace(HEALTHY, models=()), model="")) as stage:
        await stage.opened()
        assert "^g gets qwen3:4b" in stage.words()
        await stage.pilot.press("ctrl+g")
        await stage.until(lambda: "qwen3:4b ● ready" in stage.text(), "the model")


async def test_nothing_on_offer_is_said() -> None:
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("ctrl+g")
        await stage.until(lambda: "Nothing is on offer" in stage.text(), "the word")


async def test_ctrl_c_stops_the_answer_at_once_and_copies_what_is_marked(clipboard: list[str]) -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        yield Waiting("qwen3:4b", 40.0)
        cancel.wait(60)
        yield Finished(answer_of(trace, "", outcome="stopped"))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        stage.begin("When?")
        await stage.until(lambda: "loading qwen3:4b … 40 s" in stage.text(), "waiting")
        await stage.pilot.press("ctrl+c")
        await stage.answered()
        assert "■ stopped" in stage.text()
        await stage.pilot.press(*"draft", "ctrl+a", "shift+end", "ctrl+c")
        assert clipboard == ["draft"]
        await stage.pilot.press("ctrl+x")
        await stage.until(lambda: stage.app.chat.prompt.text == "", "cutting")
        await stage.pilot.press("ctrl+c")
        await stage.until(lambda: "Nothing is marked" in stage.text(), "the word")


async def test_a_stop_between_enter_and_the_first_sign_of_life_is_heeded() -> None:
    def script(question: str, admit: frozenset[int], cancel: threading.Event) -> Iterator[AnswerEvent]:
        trace = answered_trace(question)
        yield Retrieved(trace)
        stopped = cancel.wait(20)
        yield Finished(answer_of(trace, "", outcome="stopped" if stopped else "answered"))

    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        chat, mounted = stage.app.chat, type(stage.app.chat.conversation).begin_turn

        async def slow_mount(conversation: Conversation, question: str, follows: str = "") -> TurnView:
            chat.action_leave()  # esc, while the turn is being drawn
            return await mounted(conversation, question, follows)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(chat.conversation), "begin_turn", slow_mount)
            stage.begin("When?")
            await stage.until(lambda: "■ stopped" in stage.text(), "stopping")


async def test_a_server_elsewhere_is_shown_all_the_time_whatever_the_width() -> None:
    away = replace(HEALTHY, host="http://10.0.0.7:11434", loopback=False)
    for size in ((120, 36), (80, 24), (40, 20)):
        for health in (away, replace(away, reachable=False), replace(away, models=())):
            async with on_stage(Scene(health=health), size=size) as stage:
                await stage.opened()
                assert "notes leave this machine" in stage.text()
                await stage.ask("When?")
                assert "notes leave this machine" in stage.text()


def test_a_turn_that_an_earlier_version_kept_is_read() -> None:
    import json
    from dataclasses import asdict

    from ragchat.answering.turn import read_turn

    kept = asdict(turn_of(with_receipt(answered_trace("When?"))))
    for name in ("dropped", "truncated", "notice", "hint", "receipt"):
        del kept[name]
    turn = read_turn(json.dumps(kept).encode())
    assert turn is not None
    assert (turn.dropped, turn.truncated, turn.receipt) == ((), False, "")
