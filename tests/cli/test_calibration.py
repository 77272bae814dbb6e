"""`ragchat calibrate`: sets the threshold from one's own questions, or says why it does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragchat.evaluation.calibration import FEWEST
from ragchat.evaluation.collection import Collection
from ragchat.evaluation.promise import Promise
from ragchat.evaluation.statistics import proportion
from tests.cli.conftest import Ragchat


@pytest.fixture
def questions(tmp_path: Path) -> str:
    """The words of the notes find their notes; the others are far, one of them a little nearer."""
    answerable = [
        {
            "question": f"The lease ends on 31 March 2027 {n}",
            "document": "house/lease.md",
            "evidence": "31 March 2027",
        }
        for n in range(FEWEST)
    ]
    refused = [{"question": f"zinc {n} colour the lease", "answerable": False} for n in range(FEWEST)]
    path = tmp_path / "own.jsonl"
    path.write_text("\n".join(map(json.dumps, [*answerable, *refused])), encoding="utf-8")
    return str(path)


def threshold_of(ragchat: Ragchat) -> tuple[float, str]:
    told = json.loads(ragchat("status", "--json").out)
    return told["threshold"], told["threshold_from"]


def test_it_sets_the_threshold_and_every_question_obeys(ragchat: Ragchat, questions: str) -> None:
    ragchat("index")
    before, _ = threshold_of(ragchat)
    told = ragchat("calibrate", questions)
    assert told.code == 0
    assert f"{FEWEST} questions that the notes answer, {FEWEST} that must be refused" in told.out
    assert "a bluff costs 2 lost answers" in told.out
    after, origin = threshold_of(ragchat)
    assert origin == "calibrated"
    assert after != before
    assert f"threshold {after:.3f} (calibrated): 40 questions: 0 % lost, 0 % bluffed; a bluff" in told.out
    assert ragchat("search", "The lease ends on 31 March 2027 1").code == 0
    assert ragchat("search", "zinc 7 colour the lease").code == 1


def test_a_second_time_starts_from_the_first(ragchat: Ragchat, questions: str) -> None:
    ragchat("calibrate", questions)
    once = threshold_of(ragchat)
    ragchat("calibrate", questions)
    assert threshold_of(ragchat) == once


def test_dry_run_sets_nothing_and_reset_goes_back(ragchat: Ragchat, questions: str) -> None:
    ragchat("index")
    before = threshold_of(ragchat)
    told = json.loads(ragchat("calibrate", questions, "--dry-run", "--json").out)
    assert (told["set"], told["bluff_cost"]) == (False, 2.0)
    assert told["low"] <= told["shift"] <= told["high"]
    assert threshold_of(ragchat) == before
    ragchat("calibrate", questions)
    assert ragchat("calibrate", "--reset").out.startswith("automatic again")
    assert threshold_of(ragchat) == before


def test_too_few_questions_set_nothing(ragchat: Ragchat, notes: Path) -> None:
    Collection(notes).mark_refused("Which colour has zinc?")
    told = ragchat("calibrate")
    assert told.code == 1
    assert told.out.startswith(
        "not set: too few questions: 0 that the notes answer and 1 that must be refused"
    )
    assert json.loads(ragchat("calibrate", "--json").out)["set"] is False


def test_without_questions_the_promise_is_checked(ragchat: Ragchat, notes: Path) -> None:
    small = ragchat("calibrate")
    assert small.code == 1
    assert "too small" in small.out
    words = ("rent", "boiler", "garden", "bicycle", "winter", "letter", "kitchen", "window", "tax")
    for number in range(70):
        text = " ".join(words[(number * step) % len(words)] for step in range(1, 12))
        (notes / f"n{number}.md").write_text(
            f"What is the {text} of {number}? It is in the house.", encoding="utf-8"
        )
    told = ragchat("calibrate", "--json")
    passing = json.loads(told.out)["off_topic_passing"]
    assert passing["trials"] > 100
    assert passing["value"] < 0.2
    assert told.code == int(passing["low"] > 0.05)
    assert "off-topic questions left out" in ragchat("calibrate").out


def test_a_fixed_threshold_is_not_moved(ragchat: Ragchat, questions: str) -> None:
    told = ragchat("calibrate", questions, "--set", "retrieval.threshold=0.5")
    assert told.code == 2
    assert "config set retrieval.threshold auto" in told.err


@pytest.mark.parametrize("cost", ["0", "-1", "nan"])
def test_a_cost_that_is_none(ragchat: Ragchat, questions: str, cost: str) -> None:
    assert ragchat("calibrate", questions, "--bluff-cost", cost).code == 2


@pytest.mark.parametrize(("broken", "code"), [(False, 0), (True, 1)])
def test_the_exit_code_tells_whether_the_promise_is_kept(
    ragchat: Ragchat, monkeypatch: pytest.MonkeyPatch, broken: bool, code: int
) -> None:
    share = proportion([1.0] * (60 if broken else 5) + [0.0] * 95)
    assert share is not None
    promise = Promise(share)
    assert promise.broken is broken
    monkeypatch.setattr("ragchat.cli.calibration.check_promise", lambda *_: promise)
    assert ragchat("calibrate").code == ragchat("calibrate", "--json").code == code


def test_questions_that_cannot_be_used_end_it_as_they_end_eval(ragchat: Ragchat, questions: str) -> None:
    with Path(questions).open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"question": "Who?", "document": "house/leese.md", "evidence": "x"}))
    told = ragchat("calibrate", questions)
    assert told.code == 2
    assert "1 question cannot be used" in told.err
    assert "did you mean house/lease.md?" in told.err
    assert ragchat("calibrate", questions, "--skip-invalid").code == 0
