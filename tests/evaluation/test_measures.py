"""Figures from outcomes, on cases small enough to count by hand."""

from __future__ import annotations

import pytest

from ragchat.evaluation.measures import compared, finding, gating, latency, units
from tests.evaluation.making import asked, outcome_of

GOLD = (0, 10)


def test_recall_and_mrr_by_hand() -> None:
    ranks = [1, 2, 5, None]
    rows = [(asked(f"q{n}", GOLD), outcome_of(f"q{n}", rank)) for n, rank in enumerate(ranks)]
    found = finding(rows, "ragchat")
    assert found is not None
    assert [found.recall["whole", depth].value for depth in (1, 4, 5)] == [0.25, 0.5, 0.75]
    assert found.mrr.value == pytest.approx((1 + 1 / 2 + 1 / 5) / 4)
    assert found.characters[1] == 100
    assert found.characters[10] == 200  # there are only two
    assert found.tokens[2] == 40


def test_questions_to_be_refused_say_nothing_of_recall() -> None:
    assert finding([(asked("q"), outcome_of("q"))], "ragchat") is None


def test_two_phrasings_are_one_unit() -> None:
    rows = [
        (asked("a", GOLD, group="one"), outcome_of("a", 1)),
        (asked("b", GOLD, group="one"), outcome_of("b", None)),
        (asked("c", GOLD), outcome_of("c", 1)),
    ]
    found = finding(rows, "ragchat")
    assert found is not None
    share = found.recall["whole", 1]
    assert (share.value, share.trials) == (0.75, 2)


def test_a_pair_of_phrasings_counts_once_in_the_paired_test() -> None:
    questions = [asked("a", GOLD, group="one"), asked("b", GOLD, group="one"), asked("c", GOLD)]
    better = [(q, outcome_of(q.id, 1)) for q in questions]
    worse = [(q, outcome_of(q.id, 9)) for q in questions]
    test = compared((better, "ragchat"), (worse, "ragchat"), "whole", 4)
    assert (test.wins, test.losses) == (2, 0)


def test_bluffs_near_and_far_apart_and_lost_answers() -> None:
    rows = [
        (asked("lost", GOLD), outcome_of("lost", 1, nearest=0.6)),
        (asked("kept", GOLD), outcome_of("kept", 1, nearest=0.2)),
        (asked("kept too", GOLD), outcome_of("kept too", 3, nearest=0.2)),
        (asked("near", kind="near miss: x"), outcome_of("near", nearest=0.4)),
        (asked("near too", kind="Near miss: x"), outcome_of("near too", nearest=0.55)),
        (asked("far", kind="far"), outcome_of("far", nearest=0.9)),
        (asked("far too", kind="general"), outcome_of("far too", nearest=0.45)),
    ]
    gate = gating(rows)
    shares = (gate.lost, gate.answered, gate.near, gate.far, gate.all_bluffs)
    assert [share and round(share.value, 3) for share in shares] == [0.333, 0.333, 0.5, 0.5, 0.5]
    assert {kind: share.value for kind, share in gate.kinds.items()} == {
        "near miss: x": 1.0,
        "Near miss: x": 0.0,
        "far": 0.0,
        "general": 1.0,
    }
    assert gate.area_far is not None
    assert gate.area_far.value == pytest.approx(5 / 6)
    now = next(point for point in gate.sweep if abs(point.shift) < 1e-9)
    assert now.lost == pytest.approx(1 / 3)
    assert (now.near, now.far) == (0.5, 0.5)
    assert (gate.sweep[-1].lost, gate.sweep[-1].near, gate.sweep[-1].far) == (0.0, 1.0, 1.0)


def test_the_sweep_only_ever_loses_less_and_bluffs_more() -> None:
    rows = [(asked(f"a{n}", GOLD), outcome_of(f"a{n}", 1, nearest=n / 20)) for n in range(20)]
    rows += [(asked(f"u{n}", kind="far"), outcome_of(f"u{n}", nearest=0.4 + n / 40)) for n in range(20)]
    sweep = gating(rows).sweep
    losses = [point.lost for point in sweep if point.lost is not None]
    bluffs = [point.far for point in sweep if point.far is not None]
    assert losses == sorted(losses, reverse=True)
    assert bluffs == sorted(bluffs)


def test_bluffs_are_also_told_where_two_in_a_hundred_answers_are_lost() -> None:
    rows = [(asked(f"a{n}", GOLD), outcome_of(f"a{n}", 1, nearest=n / 100)) for n in range(100)]
    rows += [(asked("u", kind="far"), outcome_of("u", nearest=0.975))]
    rows += [(asked("v", kind="far"), outcome_of("v", nearest=0.965))]
    point = gating(rows).at_target
    assert point is not None
    assert point.lost == pytest.approx(0.02)
    assert (point.far, point.near) == (0.5, None)
    assert point.shift == pytest.approx(0.47)


def test_nothing_asked_is_nothing_known() -> None:
    gate = gating([])
    assert (gate.lost, gate.near, gate.far, gate.sweep, gate.at_target) == (None, None, None, (), None)
    assert latency([]) is None
    assert units([], lambda question, outcome: 1.0) == []
