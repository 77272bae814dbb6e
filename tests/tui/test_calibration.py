"""The calibration screen: the line replays the questions, is set and put back; too few and none are said."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.errors import SetupError
from ragchat.evaluation.calibration import choose, excess_of, rates, replay, too_few
from ragchat.evaluation.collection import Collection
from ragchat.evaluation.measures import Asked
from ragchat.evaluation.promise import Promise
from ragchat.evaluation.statistics import proportion
from ragchat.retrieval.calibrated import kept_calibration
from ragchat.tui.calibrating import COSTS, Examined
from ragchat.tui.screens import calibration
from ragchat.tui.screens.calibration import CalibrationScreen
from tests.evaluation.making import asked, outcome_of
from tests.tui.fake_workspace import THRESHOLD
from tests.tui.stage import NARROW, Stage, on_stage


def questions(answers: Sequence[float], near: Sequence[float], far: Sequence[float] = ()) -> Asked:
    """Questions whose nearest passages lie so far; the threshold is 0.5."""
    found = [
        (asked(f"answer {n}", (0, 10)), outcome_of(f"a{n}", 1, nearest=x)) for n, x in enumerate(answers)
    ]
    for kind, distances in (("near miss", near), ("far", far)):
        found += [
            (asked(f"{kind} {n}", kind=kind), outcome_of(f"{kind}{n}", nearest=x))
            for n, x in enumerate(distances)
        ]
    return found


ENOUGH = questions(
    [0.30 + n / 100 for n in range(24)],
    [0.46 + n / 100 for n in range(20)],
    [0.7 + n / 100 for n in range(9)],
)


def examined(found: Asked, **changed: object) -> Examined:
    few = too_few(found)
    choices = None if few else {cost: choose(found, cost) for cost in COSTS}
    return replace(Examined(THRESHOLD, found, few=few, choices=choices), **changed)  # type: ignore[arg-type]


@given(
    st.lists(st.floats(0, 2), min_size=1, max_size=9),
    st.lists(st.floats(0, 2), min_size=1, max_size=9),
    st.floats(-1, 1),
)
def test_a_replay_counts_as_the_choice_of_a_threshold_does(
    answers: list[float], near: list[float], shift: float
) -> None:
    found = questions(answers, near)
    told, wanted = replay(found, shift), rates(found, shift)
    assert (told.lost, told.near, told.far) == (wanted.lost, wanted.bluffs, None)
    for question, outcome in found:
        wrong = (excess_of(outcome) > shift) == question.answerable
        assert ((question, outcome) in told.failures) == wrong


async def calibrating(stage: Stage, data: Examined, monkeypatch: pytest.MonkeyPatch) -> CalibrationScreen:
    monkeypatch.setattr(calibration, "examine_folder", lambda *_: data)
    await stage.opened()
    await stage.pilot.press("f6")
    await stage.until(lambda: isinstance(stage.app.screen, CalibrationScreen), "the screen")
    await stage.until(lambda: "reading the collected" not in stage.text(), "the questions")
    assert isinstance(stage.app.screen, CalibrationScreen)
    return stage.app.screen


async def test_the_line_replays_the_questions_and_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage(size=NARROW) as stage:
        await calibrating(stage, examined(ENOUGH), monkeypatch)
        text = stage.text()
        assert "24 questions that the notes answer, 29 to be refused" in text
        assert "12.5 % (4–31 %) of 24" in text  # 0.51, 0.52, 0.53 are lost
        assert "25.0 % (11–47 %) of 20" in text  # 0.46 … 0.50 are answered
        assert "0.0 % (0–30 %) of 9" in text
        await stage.pilot.press("right", "right", "right")
        assert "line moved +0.015 for every question" in stage.text()
        assert "8.3 % (2–26 %) of 24" in stage.text()
        await stage.pilot.press(*["left"] * 5)
        assert "line moved -0.010" in stage.text()
        await stage.pilot.press("u")
        assert "line moved" not in stage.text()
        assert stage.workspace.values == {}


async def test_the_cheapest_line_is_set_and_put_back_by_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage() as stage:
        await calibrating(stage, examined(ENOUGH), monkeypatch)
        await stage.pilot.press("a")
        await stage.until(lambda: "stands where it stood" in stage.words("Toast"), "the word")
        await stage.pilot.press("u")
        assert "a bluff costs 2 answers" in stage.text()
        await stage.pilot.press("plus")
        assert "a bluff costs 3 answers" in stage.text()
        await stage.pilot.press("minus", "minus")
        assert "a bluff costs 1 answer" in stage.text()
        await stage.pilot.press("c")
        shift = choose(ENOUGH, 1.0).shift
        assert f"line moved {shift:+.3f}" in stage.text()
        await stage.pilot.press("a")
        index = stage.workspace.index()
        await stage.until(lambda: kept_calibration(index) is not None, "setting it")
        kept = kept_calibration(index)
        assert kept is not None
        assert kept.shift == round(shift, 3)
        assert "set by hand over 53 questions" in kept.detail
        await stage.until(lambda: "line moved" not in stage.text(), "the new line")
        await stage.pilot.press("u")
        await stage.until(lambda: kept_calibration(index) is None, "putting it back")


async def test_the_figures_stay_until_the_new_ones_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_stage() as stage:
        await calibrating(stage, examined(ENOUGH), monkeypatch)
        asked_anew = threading.Event()

        def anew(*_: object) -> Examined:
            assert asked_anew.wait(20)
            return examined(ENOUGH[:-1])

        monkeypatch.setattr(calibration, "examine_folder", anew)
        await stage.pilot.press("right", "right", "right", "a")
        await stage.until(lambda: "asking the questions anew" in stage.text(), "asking")
        await stage.pilot.press("c", "right", "u", "plus")
        assert "8.3 % (2–26 %) of 24" in stage.text()
        assert "No questions are collected yet" not in stage.text()
        assert any("still being asked" in each.message for each in stage.app._notifications)
        asked_anew.set()
        await stage.until(
            lambda: "24 questions that the notes answer, 28 " in stage.text(), "the new figures"
        )
        assert "line moved" not in stage.text()
        assert "a bluff costs 2 answers" in stage.text()


async def test_nothing_is_said_to_be_missing_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = threading.Event()
    monkeypatch.setattr(calibration, "examine_folder", lambda *_: read.wait(20) and examined(ENOUGH))
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("f6", "c")
        await stage.until(lambda: "still being asked" in stage.words("Toast"), "the word")
        assert "reading the collected questions" in stage.text()
        assert "No questions are collected" not in stage.text()
        read.set()
        await stage.until(lambda: "threshold 0.520" in stage.text(), "the figures")


async def test_enter_takes_a_question_that_goes_wrong_into_the_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with on_stage() as stage:
        await calibrating(stage, examined(ENOUGH), monkeypatch)
        assert "3 lost · 5 answered that should not be" in stage.text()
        await stage.pilot.press("down", "enter")
        await stage.until(lambda: stage.app.screen is stage.app.chat, "the prompt")
        assert stage.app.chat.prompt.text == replay(ENOUGH, 0.0).failures[0][0].text


async def test_too_few_questions_are_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    few = examined(questions([0.3, 0.6], [0.4]), problems=("questions.jsonl, line 3: no such note",))
    async with on_stage() as stage:
        await calibrating(stage, few, monkeypatch)
        assert "too few questions: 2 that the notes answer and 1 that must be refused" in stage.text()
        assert "left out: questions.jsonl, line 3: no such note" in stage.text()
        await stage.pilot.press("c")
        await stage.until(lambda: "Too few questions" in stage.words("Toast"), "the word")
        assert "line moved" not in stage.text()


@pytest.mark.parametrize(
    ("promise", "told"),
    [
        (Promise(proportion([1.0] * 10 + [0.0] * 220)), "✓ as promised"),  # type: ignore[arg-type]
        (Promise(proportion([1.0] * 60 + [0.0] * 170)), "▲ more than promised"),  # type: ignore[arg-type]
        (None, "too small"),
    ],
)
async def test_without_questions_the_promise_and_how_to_collect(
    promise: Promise | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_stage() as stage:
        await calibrating(stage, Examined(THRESHOLD, promise=promise), monkeypatch)
        assert told in stage.text()
        assert "this question must be refused" in stage.text()
        await stage.pilot.press("right", "a")
        await stage.until(lambda: "stands where it stood" in stage.words("Toast"), "the word")
        await stage.pilot.press("escape")
        assert stage.app.screen is stage.app.chat


async def test_what_cannot_be_examined_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Examined:
        raise SetupError("nothing is indexed yet, so there is no threshold", hint="ragchat index")

    monkeypatch.setattr(calibration, "examine_folder", fail)
    async with on_stage() as stage:
        await stage.opened()
        await stage.pilot.press("f6")
        await stage.until(lambda: "nothing is indexed yet" in stage.text(), "the reason")


def test_the_collected_questions_are_asked_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragchat.answering.workspace import Workspace
    from ragchat.embedding import registry
    from ragchat.settings import EmbeddingSettings, Settings
    from ragchat.tui.calibrating import examine_folder
    from tests.doubles import WordEmbedder

    monkeypatch.setattr(registry, "open_embedder", lambda *_, **__: WordEmbedder(name="words"))
    monkeypatch.setattr(registry, "expected_stamp", lambda *_, **__: WordEmbedder(name="words").stamp)
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "lease.md").write_text("# Lease\n\nThe lease ends on 31 March 2027.\n", "utf-8")
    workspace = Workspace(folder, Settings(embedding=EmbeddingSettings(model="words")))
    with pytest.raises(SetupError, match="nothing is indexed"):
        examine_folder(workspace, lambda *_: None, threading.Event())
    workspace.update()
    assert examine_folder(workspace, lambda *_: None, threading.Event()) == Examined(
        workspace.status().threshold
    )
    collection = Collection(folder)
    collection.mark_answer("When does the lease end?", "lease.md", 9, 40, "The lease ends on 31 March 2027")
    collection.mark_refused("Who built the moon?")
    with collection.path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"question": "x", "document": "gone.md", "evidence": "no"}) + "\n")
    told = examine_folder(workspace, lambda *_: None, threading.Event())
    assert [question.text for question, _ in told.asked] == [
        "When does the lease end?",
        "Who built the moon?",
    ]
    assert len(told.problems) == 1
    assert told.few.startswith("too few questions: 1 that the notes answer and 1 that must be refused")
    workspace.close()
