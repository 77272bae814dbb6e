"""The threshold for a stated cost, on questions where the best one can be seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.evaluation.calibration import FEWEST, choose, rates, too_few
from ragchat.evaluation.measures import Asked
from tests.evaluation.making import asked, outcome_of


def rows(answers: list[float], refusals: list[float]) -> Asked:
    """Questions whose nearest passage lies so far; the threshold is 0.5."""
    found = [(asked(f"a{n}", (0, 10)), outcome_of(f"a{n}", 1, nearest=x)) for n, x in enumerate(answers)]
    return [
        *found,
        *((asked(f"u{n}", kind="far"), outcome_of(f"u{n}", nearest=x)) for n, x in enumerate(refusals)),
    ]


def test_what_can_be_separated_is_separated_in_the_middle() -> None:
    choice = choose(rows([0.1, 0.2, 0.3], [0.7, 0.8]))
    assert choice.shift == pytest.approx(0.0)
    assert (choice.then.lost.value, choice.then.bluffs.value) == (0.0, 0.0)
    assert choice.low <= choice.shift <= choice.high


def test_a_bluff_that_costs_more_makes_it_tighter() -> None:
    # Between 0.40 and 0.60 answers and refusals alternate.
    asked_rows = rows([0.30, 0.44, 0.52, 0.58], [0.42, 0.48, 0.56, 0.70])
    shifts = [choose(asked_rows, cost).shift for cost in (0.2, 1.0, 5.0)]
    assert shifts == sorted(shifts, reverse=True)
    assert shifts[0] > shifts[2]
    assert choose(asked_rows, 5.0).then.bluffs.value == 0.0
    assert choose(asked_rows, 0.2).then.lost.value == 0.0


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.lists(st.floats(0, 1), min_size=1, max_size=12),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_no_other_threshold_is_cheaper(answers: list[float], refusals: list[float], cost: float) -> None:
    # Distances far enough apart that thousandths can tell them.
    answers, refusals = [round(x, 2) for x in answers], [round(x, 2) + 0.005 for x in refusals]
    asked_rows = rows(answers, refusals)
    choice = choose(asked_rows, cost)
    cheapest = choice.then.cost(cost)
    for hundredth in range(-60, 70):
        assert rates(asked_rows, hundredth / 100 + 0.0025).cost(cost) >= cheapest - 1e-9


def test_phrasings_of_one_question_weigh_once() -> None:
    alone = rows([0.3], [0.4, 0.8])
    many = [(asked(f"p{n}", (0, 10), group="a0"), outcome_of(f"p{n}", 1, nearest=0.3)) for n in range(9)]
    assert choose([*alone, *many]).answerable == 1


def test_few_questions_have_a_wide_interval_and_are_said_to_be_few() -> None:
    answers = [0.3 + n / 100 for n in range(30)]
    refusals = [0.5 + n / 100 for n in range(30)]
    few, many = choose(rows(answers[::6], refusals[::6])), choose(rows(answers, refusals))
    assert few.high - few.low > many.high - many.low
    assert too_few(rows(answers, refusals)) == ""
    told = too_few(rows(answers[:5], refusals))
    assert told.endswith(f"it takes {FEWEST - 5} more that the notes answer")
    assert "7 that the notes answer and 3 that must be refused" in too_few(rows(answers[:7], refusals[:3]))


def test_a_question_without_a_candidate_is_refused_by_every_threshold() -> None:
    choice = choose(rows([0.3, float("inf")], [0.8]))
    assert choice.then.lost.value == 0.5


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf")])
def test_a_cost_that_is_none(cost: float) -> None:
    with pytest.raises(ValueError):
        choose(rows([0.3], [0.8]), cost)


def test_one_sort_alone_chooses_nothing() -> None:
    for one_sort in (rows([0.3], []), rows([], [0.3])):
        with pytest.raises(ValueError):
            choose(one_sort)
