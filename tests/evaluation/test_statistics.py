"""Statistics against scipy and against the figures that others published."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ragchat.evaluation.statistics import (
    area_under_curve,
    paired,
    proportion,
    sign_test,
    wilson_interval,
)


@given(st.integers(1, 3000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials))))
def test_wilson_is_scipys(case: tuple[int, int]) -> None:
    successes, trials = case
    expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_a_recall_of_one_half_at_64_questions_carries_twelve_points() -> None:
    low, high = wilson_interval(32, 64)
    assert (low + high) / 2 == pytest.approx(0.5)
    assert (high - low) / 2 == pytest.approx(0.12, abs=0.003)


def test_wilson_of_nothing_knows_nothing_and_refuses_the_impossible() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)
    for successes, trials in ((-1, 3), (4, 3)):
        with pytest.raises(ValueError):
            wilson_interval(successes, trials)


@pytest.mark.parametrize(
    ("wins", "losses", "p", "digits"),
    [
        (18, 3, 0.0015, 4),
        (12, 2, 0.0129, 4),
        (8, 6, 0.79, 2),
        (9, 7, 0.80, 2),
        (10, 3, 0.09, 2),
        (10, 6, 0.45, 2),
    ],
)
def test_published_sign_tests(wins: int, losses: int, p: float, digits: int) -> None:
    assert round(sign_test(wins, losses), digits) == p


@given(st.integers(0, 400), st.integers(0, 400))
def test_the_sign_test_is_scipys(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)
    assert sign_test(wins, losses) == sign_test(losses, wins)


def test_a_pair_counts_only_where_the_two_differ() -> None:
    test = paired([1, 1, 0, 1, 0.5], [1, 0, 1, 0, 0.5])
    assert (test.wins, test.losses, test.p) == (2, 1, 1.0)
    assert not test.distinguishable
    with pytest.raises(ValueError):
        paired([1.0], [1.0, 0.0])


def test_a_proportion_counts_units() -> None:
    share = proportion([1, 0, 0.5, 0.5])
    assert share is not None
    assert (share.value, share.trials) == (0.5, 4)
    assert proportion([]) is None


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9]), min_size=1, max_size=40),
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9]), min_size=1, max_size=40),
)
def test_the_area_is_mann_whitneys(positives: list[float], negatives: list[float]) -> None:
    area = area_under_curve(positives, negatives)
    assert area is not None
    expected = stats.mannwhitneyu(positives, negatives).statistic / (len(positives) * len(negatives))
    assert area.value == pytest.approx(expected)
    assert 0 <= area.low <= area.value <= area.high <= 1


def test_the_area_of_one_kind_alone_is_unknown() -> None:
    assert area_under_curve([], [0.3]) is None
    assert area_under_curve([0.3], []) is None


def test_the_areas_interval_holds_the_true_value_about_as_often_as_it_says() -> None:
    # Two normal scores one standard deviation apart: AUC = Φ(1/√2).
    truth = stats.norm.cdf(1 / math.sqrt(2))
    random = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        area = area_under_curve(list(random.normal(1, 1, 60)), list(random.normal(0, 1, 60)))
        assert area is not None
        held += area.low <= truth <= area.high
    assert 0.92 <= held / 300 <= 0.98
