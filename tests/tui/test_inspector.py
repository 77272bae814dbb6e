"""The inspector: its line moves and shows what would be sent; one key sets it, and one puts it back."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragchat.answering.events import SentRequest
from ragchat.answering.report import search_json
from ragchat.retrieval.adaptive import FolderGate, Usual
from ragchat.retrieval.calibrated import Calibration, keep_calibration, kept_calibration, moved
from ragchat.retrieval.gate import judge
from ragchat.retrieval.trace import Threshold, ThresholdPart
from ragchat.settings import RetrievalSettings
from ragchat.tui.inspection import ORDERS, STEP, Inspection
from ragchat.tui.screens.inspector import InspectorScreen
from ragchat.tui.screens.prompt_page import PromptPage
from ragchat.tui.screens.viewer import ViewerScreen
from tests.tui.fake_workspace import (
    Scene,
    answer_of,
    answered_trace,
    candidate,
    passages,
    refused_trace,
    trace_of,
)
from tests.tui.outcomes import crowded, saying, with_receipt
from tests.tui.stage import NARROW, Stage, on_stage

LIMIT = 4
DISTANCES = st.floats(0.0, 2.0) | st.just(math.nan)


@given(st.lists(DISTANCES, min_size=1, max_size=12), st.floats(0.0, 2.0))
def test_what_admits_a_passage_sends_it_and_a_thousandth_less_does_not(
    distances: list[float], line: float
) -> None:
    chunks = [
        replace(passages()[0][0], document=f"{at}.md", content=f"words {at}") for at in range(len(distances))
    ]
    candidates = [
        replace(candidate(None, chunk, distance, fused=at), chunk_id=at)
        for at, (chunk, distance) in enumerate(zip(chunks, distances, strict=True), start=1)
    ]
    trace = replace(trace_of("q", judge(candidates, 0.5, LIMIT)))
    inspection = Inspection(trace, LIMIT)
    inspection.move(line)
    for each in trace.candidates:
        needed = inspection.admits(each)
        if needed is None:
            continue
        sent = {one.chunk_id for one in judge(candidates, needed, LIMIT) if one.verdict == "sent"}
        assert each.chunk_id in sent
        below = {one.chunk_id for one in judge(candidates, needed - 0.001, LIMIT) if one.verdict == "sent"}
        assert each.chunk_id not in below
    counts = [number for _, number in inspection.ladder()]
    assert counts == sorted(set(counts))
    assert max(counts, default=0) <= LIMIT
    assert all(value > inspection.value for value, _ in inspection.ladder())


def test_a_step_goes_to_the_next_multiple_either_way_and_stays_within_distances() -> None:
    inspection = Inspection(answered_trace("q"), LIMIT)
    inspection.move(0.523)
    inspection.step(1)
    assert inspection.value == 0.525
    inspection.step(1)
    assert inspection.value == 0.53
    inspection.move(0.523)
    inspection.step(-1)
    assert inspection.value == 0.52
    for _ in range(int(0.52 / STEP) + 5):
        inspection.step(-1)
    assert inspection.value == 0.0
    assert inspection.moved_trace().refused


def test_a_line_that_stands_where_it_stood_shows_the_trace_itself() -> None:
    trace = crowded("q", 2)  # two did not fit the window, which no distance tells
    inspection = Inspection(trace, LIMIT)
    inspection.step(1)
    inspection.move(trace.threshold.value)
    assert inspection.judged() == trace.candidates


def test_every_order_lists_every_candidate_and_only_distance_has_the_line() -> None:
    inspection = Inspection(answered_trace("q"), LIMIT)
    for order in ORDERS:
        inspection.order = order
        rows = inspection.rows()
        assert {each.chunk_id for each in rows if each} == {1, 2, 3, 4, 5, 6}
        assert rows.count(None) == (order == "distance")
    inspection.order = "bm25"
    assert [each.bm25_rank for each in inspection.rows() if each] == [1, 2, 3, 5, None, None]


async def inspected(stage: Stage, question: str = "When does the lease end?") -> InspectorScreen:
    await stage.opened()
    await stage.ask(question)
    await stage.pilot.press("ctrl+e")
    await stage.until(lambda: "Candidates by distance" in stage.text(), "the inspector")
    assert isinstance(stage.app.screen, InspectorScreen)
    return stage.app.screen


async def test_the_line_moves_with_the_arrows_and_nothing_is_sent_or_kept() -> None:
    async with on_stage(size=NARROW) as stage:
        await inspected(stage)
        assert "✓ 4 sent of 6 candidates" in stage.text()
        asked = list(stage.workspace.questions)
        await stage.pilot.press(*["left"] * 4)
        assert "0.520 → 0.500 (-0.020): 3 instead of 4 would be sent" in stage.text()
        assert "─ threshold" in stage.text()
        await stage.pilot.press("right", "right", "right", "right")
        assert "✓ 4 sent of 6 candidates" in stage.text()
        assert stage.workspace.questions == asked
        assert stage.workspace.values == {}


async def test_a_refusal_tells_which_line_would_have_sent_how_many() -> None:
    async with on_stage() as stage:
        await inspected(stage, "Why is the sky blue?")
        text = stage.text()
        assert "✗ refused: the nearest of 6 is at 0.662, 0.142 beyond the line" in text
        assert "a line at 0.662 sends 1 · 0.751 sends 2 · 0.797 sends 3" in text
        assert "a threshold of 0.662 would admit it" in text  # the cursor stands on the nearest miss
        await stage.pilot.press("down", "space")
        assert "0.520 → 0.751 (+0.231): 2 instead of nothing would be sent" in stage.text()


async def test_one_key_sets_the_line_and_one_puts_it_back() -> None:
    async with on_stage() as stage:
        await inspected(stage)
        await stage.pilot.press("a")
        await stage.until(lambda: "stands where it stood" in stage.text(), "the word")
        await stage.pilot.press("u")
        await stage.until(lambda: "Nothing to put back" in stage.text(), "the word")
        await stage.pilot.press("right", "right", "right", "right", "a")
        await stage.until(lambda: "Every threshold here moves by +0.020" in stage.text(), "the word")
        index = stage.workspace.index()
        kept = kept_calibration(index)
        assert kept is not None
        assert kept.shift == 0.02
        await stage.until(
            lambda: "(+0.020): 4 instead of 4 would be sent · set: ask again" in stage.text(), "set"
        )
        await stage.pilot.press("a")
        await stage.until(lambda: "stands where it stood" in stage.text(), "the word")
        await stage.pilot.press("right", "a")  # from where the question was judged, not from what was set
        await stage.until(lambda: "(+0.025): 4 instead of 4 would be sent · set" in stage.text(), "set")
        assert (kept_calibration(index) or kept).shift == 0.025
        await stage.pilot.press("u")
        await stage.until(lambda: "back where it was" in stage.text(), "the word")
        assert kept_calibration(index) == kept
        assert "0.520 → 0.540 (+0.020): 4 instead of 4 would be sent · set" in stage.text()
        await stage.pilot.press("left")
        assert "nothing is kept" in stage.text()
        await stage.pilot.press("u")  # the line
        assert "0.520 → 0.540 (+0.020): 4 instead of 4 would be sent · set" in stage.text()
        await stage.pilot.press("u")  # and what was set, with its line
        await stage.until(lambda: "✓ 4 sent of 6 candidates" in stage.text(), "the line")
        assert kept_calibration(index) is None


async def test_a_line_of_a_question_judged_before_the_threshold_moved_is_set_where_it_is_drawn() -> None:
    threshold = Threshold(0.52, "calibrated", shift=0.3)  # judged under a shift that holds no more
    script = saying(lambda trace: answer_of(replace(trace, threshold=threshold), "In March [1]."))
    async with on_stage(Scene(script=script)) as stage:
        await stage.opened()
        index = stage.workspace.index()
        keep_calibration(index, Calibration(0.1, "by others"))
        await inspected(stage)
        await stage.until(lambda: "has moved by -0.200 since: ask again" in stage.text(), "the word")
        await stage.pilot.press("right", "a")
        await stage.until(lambda: "Every threshold here moves by +0.205" in stage.words("Toast"), "the word")
        assert (kept := kept_calibration(index)) is not None
        assert kept.shift == 0.305
        await stage.pilot.press("u")
        await stage.until(lambda: "has moved by -0.200 since: ask again" in stage.text(), "the word")
        assert kept_calibration(index) == Calibration(0.1, "by others")
        await stage.pilot.press("a")  # as the question was judged
        await stage.until(lambda: "since: ask again" not in stage.text(), "no word")
        assert (kept := kept_calibration(index)) is not None
        assert kept.shift == 0.3


async def test_two_quick_presses_set_the_line_once() -> None:
    async with on_stage() as stage:
        await inspected(stage)
        await stage.pilot.press("right", "a", "a", "a")
        await stage.until(lambda: "(+0.005): 4 instead of 4 would be sent · set" in stage.text(), "the line")
        await stage.pilot.press("u")
        await stage.until(lambda: kept_calibration(stage.workspace.index()) is None, "putting it back")


@given(
    base=st.floats(0.2, 0.9),
    parts=st.lists(st.floats(-0.4, 0.4), max_size=3),
    shift=st.floats(0.0, 0.3),
    line=st.floats(0.0, 1.0),
)
def test_the_shift_that_is_set_puts_the_questions_own_threshold_to_the_line(
    base: float, parts: list[float], shift: float, line: float
) -> None:
    usual = Usual(0.5, 0.0, 0.1)
    gate = FolderGate("late", base, base, 1.0, usual, {}, farthest=2.0, reach=base + 0.1, closest=0.2)
    folder = Threshold(round(base, 3), "auto", gates=(gate,))

    def judged(by: float) -> Threshold:
        now = moved(folder, Calibration(by, ""))
        shifts = now.gates[0].limited([ThresholdPart("wording", part) for part in parts])
        value = now.gates[0].value(shifts)
        return replace(now, value=value, gates=(), folders=now.gates[0].base, parts=shifts)

    line, shift = round(line, 3), round(shift, 3)
    wanted = judged(shift).shift_to(line)
    assume(-base < wanted < 1.8 - base and line > 0.2)  # a base is a distance
    told = judged(wanted).value
    assert told == pytest.approx(line, abs=0.0025)


async def test_a_fixed_threshold_is_left_alone_and_says_what_frees_it() -> None:
    async with on_stage() as stage:
        await inspected(stage)
        settings = stage.workspace.settings
        stage.workspace.settings = replace(settings, retrieval=RetrievalSettings(threshold=0.52))
        await stage.pilot.press("right", "a")
        await stage.until(lambda: "the threshold is fixed at 0.520" in stage.text(), "the reason")
        assert "ragchat config set retrieval.threshold auto" in stage.words("Toast")
        assert stage.workspace.values == {}


async def test_sort_filter_open_and_json(clipboard: list[str]) -> None:
    async with on_stage() as stage:
        screen = await inspected(stage)
        for title in ("fused rank", "dense rank", "BM25 rank", "late interaction", "distance"):
            await stage.pilot.press("s")
            assert f"Candidates by {title}" in stage.text()
        await stage.pilot.press("slash", *"mail")
        await stage.until(lambda: "1 · 2 of 6 with “mail”" in stage.text(), "the filter")
        await stage.pilot.press("q")  # is typed, and leaves nothing
        assert stage.app.screen is screen
        await stage.pilot.press("escape")
        await stage.until(lambda: "with “" not in stage.text(), "all of them")
        await stage.pilot.press("y")
        assert json.loads(clipboard[-1]) == json.loads(json.dumps(search_json(screen._inspection.trace)))
        await stage.pilot.press("end", "enter")
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the document")
        assert "mail/2025-03.md" in stage.text()


async def test_the_prompt_is_shown_as_it_was_or_would_be_sent(clipboard: list[str]) -> None:
    sent = ({"role": "system", "content": "Be brief.\x1b[2J"}, {"role": "user", "content": "Question: [x]"})

    longer = (sent[0], {"role": "user", "content": "Question: [x] and more sources"})
    options = {"temperature": 0.0, "seed": 0, "num_ctx": 8192, "num_predict": 512}
    address = "http://127.0.0.1:11434/api/chat"
    requests = (
        SentRequest(address, "qwen3:4b", longer, options, None, "not read: its 9,000 tokens are too many"),
        SentRequest(address, "qwen3:4b", sent, options, False, "612 tokens read, 80 written"),
    )

    async with on_stage(
        Scene(script=saying(lambda trace: replace(with_receipt(trace), requests=requests)))
    ) as stage:
        await inspected(stage)
        await stage.pilot.press("p")
        await stage.until(lambda: isinstance(stage.app.screen, PromptPage), "the prompt")
        assert "Sent to qwen3:4b in 2 requests · 4 messages" in stage.text()
        assert "embedding: none, the question was embedded in this process" in stage.text()
        assert f"1  POST {address} · qwen3:4b · not read: its 9,000 tokens are too many" in stage.text()
        assert f"2  POST {address} · qwen3:4b · 612 tokens read, 80 written" in stage.text()
        assert "temperature 0 · seed 0 · num_ctx 8,192 · num_predict 512 · think off" in stage.text()
        assert "User of request 1" in stage.text()
        assert "Question: [x] and more sources" in stage.text()
        assert "\x1b" not in stage.text()
        await stage.pilot.press("y")
        assert clipboard[-1].startswith("Be brief.\x1b[2J\n\nQuestion: [x] and more sources\n\nBe brief.")
        await stage.pilot.press("escape", "left", "p")
        await stage.until(lambda: "Would be sent with the line at 0.515" in stage.text(), "the other prompt")
        assert "The term begins on 1 April 2024" in stage.text()
        await stage.pilot.press("escape", *["left"] * 60, "p")
        await stage.until(lambda: "Nothing would be sent" in stage.text(), "no prompt")


async def test_a_click_chooses_and_another_opens() -> None:
    async with on_stage() as stage:
        await inspected(stage)
        row = (
            stage.text().split("\n").index(next(line for line in stage.text().split("\n") if "0.401" in line))
        )
        await stage.pilot.click(offset=(40, row))
        await stage.until(
            lambda: "#char=34,152" in stage.text() or "as agreed" in stage.text(), "the passage"
        )
        await stage.pilot.click(offset=(40, row))
        await stage.until(lambda: isinstance(stage.app.screen, ViewerScreen), "the document")


async def test_t_goes_to_the_line_and_says_why_it_stands_there() -> None:
    threshold = Threshold(
        0.280,
        "auto",
        "5 % pass",
        folders=0.589,
        parts=(
            ThresholdPart("wording", -0.33),
            ThresholdPart("length", 0.001),
            ThresholdPart("literal E[1]", 0.02),
        ),
    )
    script = saying(lambda trace: answer_of(replace(trace, threshold=threshold), "In March [1]."))
    async with on_stage(Scene(script=script)) as stage:
        await inspected(stage)
        await stage.pilot.press("s", "t")
        assert "Candidates by distance" in stage.text()
        assert "the line · 6" in stage.text()
        assert "0.589  in this folder (auto)" in stage.text()
        assert "-0.330  a passage says hardly a word of the question" in stage.text()
        assert "+0.020  E[1] stands word for word in a note" in stage.text()
        assert "+0.001  a long question is near to nothing" in stage.text()
        assert "0.280  the line" in stage.text()


async def test_nothing_to_consider_is_said() -> None:
    async with on_stage(Scene(script=saying(lambda trace: with_receipt(trace)))) as stage:
        await stage.opened()
        stage.app.push_screen(InspectorScreen(trace_of("anything?", []), None, LIMIT))
        await stage.until(lambda: "nothing in the notes resembles it" in stage.text(), "the word")
        await stage.pilot.press("right", "space", "enter", "s", "down", "end")
        assert "There was nothing to consider" in stage.text()


def test_a_refused_trace_has_its_first_rung_at_the_nearest() -> None:
    inspection = Inspection(refused_trace("q"), LIMIT)
    assert inspection.ladder(1) == [(0.662, 1)]
