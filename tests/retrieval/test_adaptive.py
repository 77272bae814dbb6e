from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.retrieval.adaptive import FolderGate, Kind, Limits, fit_folder_gate, gate_weights, read_gate
from ragchat.retrieval.calibration import PASSING, passing_point
from ragchat.retrieval.signals import Signals
from ragchat.retrieval.trace import Threshold, ThresholdPart

LIMITS = Limits(passing_point, lowest=0.0, highest=2.0, farthest=2.0)
KINDS: tuple[Kind, ...] = ("late", "plain")


def off_topic(kind: Kind, count: int = 300, seed: int = 0) -> list[Signals]:
    """Questions whose signals are the higher, the nearer their nearest passage."""
    random = np.random.default_rng(seed)
    made = []
    for distance, words in zip(random.normal(0.7, 0.1, count), random.integers(1, 20, count), strict=True):
        near = 0.7 - distance
        others = {name: 0.4 + near + float(random.normal(0, 0.1)) for name in gate_weights()[kind]}
        made.append(Signals(int(words), float(distance + 0.01 * words), others))
    return made


def threshold(gate: FolderGate, signals: Signals) -> float:
    return gate.value(gate.limited(gate.parts(signals)))


@pytest.mark.parametrize("kind", KINDS)
def test_at_most_one_in_twenty_off_topic_questions_passes(kind: Kind) -> None:
    for seed in range(5):
        signals = off_topic(kind, seed=seed)
        gate = fit_folder_gate(kind, signals, LIMITS)
        passing = sum(one.nearest <= threshold(gate, one) for one in signals)
        # The three decimals that are shown may let through one more.
        assert 0 < passing <= PASSING * len(signals) + 1


@given(
    st.sampled_from(KINDS),
    st.integers(1, 60),
    st.lists(st.floats(-2, 2), min_size=2, max_size=2),
    st.integers(0, 1),
    st.floats(0, 1),
)
def test_more_evidence_never_lowers_the_threshold(
    kind: Kind, words: int, values: list[float], which: int, more: float
) -> None:
    gate = fit_folder_gate(kind, off_topic(kind), LIMITS)
    names = list(gate.others)
    others = dict(zip(names, values, strict=True))
    raised = {**others, names[which]: others[names[which]] + more}
    assert threshold(gate, Signals(words, 0.5, raised)) >= threshold(gate, Signals(words, 0.5, others))


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_add_up_to_the_number(kind: Kind) -> None:
    gate = fit_folder_gate(kind, off_topic(kind), LIMITS)
    for one in off_topic(kind, seed=7):
        parts = gate.parts(one)
        assert {part.name for part in parts} == {"length", *gate.others}
        assert gate.value(parts) == pytest.approx(max(0, gate.base + sum(p.shift for p in parts)), abs=5e-4)
        assert float(f"{gate.value(parts):.3f}") == gate.value(parts)


@pytest.mark.parametrize("kind", KINDS)
def test_usual_signals_leave_the_folders_threshold(kind: Kind) -> None:
    gate = fit_folder_gate(kind, off_topic(kind), LIMITS)
    words = round(np.expm1(gate.length))
    others = {name: usual.value for name, usual in gate.others.items()}
    assert threshold(gate, Signals(words, 0.5, others)) == pytest.approx(gate.base, abs=0.01)


def test_one_odd_signal_moves_it_by_a_bounded_amount_and_never_beyond_the_farthest() -> None:
    gate = fit_folder_gate("late", off_topic("late"), Limits(passing_point, 0.0, 2.0, 0.9))
    name = next(iter(gate.others))
    usual = {other: known.value for other, known in gate.others.items()}
    far, farther = (Signals(8, 0.5, {**usual, name: value}) for value in (1e3, 1e6))
    assert gate.parts(far) == gate.parts(farther)
    met = gate.parts(Signals(8, 0.5, dict.fromkeys(usual, 1e6)))
    assert gate.value(met) == 0.9
    assert threshold(gate, Signals(8, 0.5, dict.fromkeys(usual, -1e6))) == 0.0


def test_nothing_as_far_as_unrelated_questions_lie_is_evidence() -> None:
    made = off_topic("late")
    gate = fit_folder_gate("late", made, LIMITS)
    assert gate.base < gate.reach <= np.mean([one.nearest for one in made])
    met = Signals(8, 0.5, dict.fromkeys(gate.others, 1e6))
    assert threshold(gate, met) == gate.reach
    parts = gate.limited(gate.parts(met))
    assert parts[-1].name == "limit"
    assert gate.base + sum(part.shift for part in parts) == pytest.approx(gate.reach)
    # It never lies within the folder's own threshold, nor beyond what any folder may have.
    assert fit_folder_gate("late", made, Limits(passing_point, 0.95, 2.0, 2.0)).reach == 0.95
    assert fit_folder_gate("late", made, Limits(passing_point, 0.0, 0.6, 2.0)).reach == 0.6


def test_what_is_as_near_as_can_be_passes_where_token_vectors_are_compared() -> None:
    late, plain = (
        fit_folder_gate(kind, off_topic(kind), Limits(passing_point, 0.0, 0.6, 0.9, closest=0.2))
        for kind in KINDS
    )
    for gate, least in ((late, 0.2), (plain, 0.0)):
        unmet = Signals(8, 0.1, dict.fromkeys(gate.others, -1e6))
        assert threshold(gate, unmet) == least
        parts = gate.limited(gate.parts(unmet))
        assert gate.base + sum(part.shift for part in parts) == pytest.approx(least)


def test_the_folders_threshold_keeps_to_its_limits_and_tells_where_it_would_be() -> None:
    signals = off_topic("plain")
    free = fit_folder_gate("plain", signals, LIMITS)
    low = fit_folder_gate("plain", signals, Limits(passing_point, 0.0, 0.2, 2.0))
    assert (low.base, low.passing) == (0.2, free.base)
    high = fit_folder_gate("plain", signals, Limits(passing_point, 0.9, 1.0, 2.0))
    assert (high.base, high.passing) == (0.9, free.base)


def test_questions_that_are_all_alike_give_a_gate_all_the_same() -> None:
    alike = [Signals(5, 0.6, dict.fromkeys(gate_weights()["late"], 0.4))] * 10
    gate = fit_folder_gate("late", alike, LIMITS)
    assert threshold(gate, alike[0]) == pytest.approx(0.599)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_kept_as_json(kind: Kind) -> None:
    gate = fit_folder_gate(kind, off_topic(kind), LIMITS)
    assert read_gate(json.loads(json.dumps(asdict(gate)))) == gate


def test_no_shipped_weight_turns_a_signal_around() -> None:
    for weights in gate_weights().values():
        assert all(0 < weight < 4 for weight in weights.values())


def test_the_story_names_the_folders_number_and_every_shift_that_shows() -> None:
    parts = (
        ThresholdPart("length", 0.004),
        ThresholdPart("wording", 0.121),
        ThresholdPart("standing out", -0.05),
    )
    moved = Threshold(0.546, "auto", "5 % of 231 …", folders=0.471, parts=parts)
    assert moved.story == (
        "0.471 in this folder, a long question +0.004, its words met +0.121, nothing stands out -0.050"
    )
    assert Threshold(0.5, "setting", "fixed at 0.500").story == "fixed at 0.500"


SHIFTS = st.floats(-1, 1, allow_nan=False)


@given(base=st.floats(0, 2), shifts=st.lists(SHIFTS, max_size=6), held=st.sampled_from([0.3, 0.9, 2.0]))
def test_the_parts_that_are_shown_add_up_to_the_threshold_that_is_shown(
    base: float, shifts: list[float], held: float
) -> None:
    value = round(min(max(base + sum(shifts), 0.0), held), 3)
    parts = tuple(ThresholdPart("wording", shift) for shift in shifts)
    shown = Threshold(value, "auto", folders=base, parts=parts).shown_parts
    total = round(base, 3) + sum(float(f"{part.shift:+.3f}") for part in shown)
    assert f"{total:.3f}" == f"{value:.3f}" or abs(total - value) < 1e-9
    assert all(part.shift for part in shown)
    for part in shown:
        assert part.name == "limit" or any(abs(part.shift - shift) <= 0.0021 for shift in shifts)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (ThresholdPart("literal E-17", 0.1), "E-17 word for word"),
        (ThresholdPart("length", -0.1), "a short question"),
        (ThresholdPart("order by words", 0.1), "words decide"),
    ],
)
def test_each_part_says_what_it_is_in_a_few_words(part: ThresholdPart, words: str) -> None:
    assert part.words == words
