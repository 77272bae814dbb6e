from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.retrieval.fusion import fuse

rankings = st.lists(st.lists(st.integers(0, 30), unique=True, max_size=12), max_size=4)


def score(rankings: list[list[int]], chunk_id: int) -> float:
    return sum(1 / (60 + ranking.index(chunk_id) + 1) for ranking in rankings if chunk_id in ranking)


@given(rankings)
def test_every_proposed_id_comes_once_and_no_other(rankings: list[list[int]]) -> None:
    assert sorted(fuse(rankings)) == sorted(set(itertools.chain.from_iterable(rankings)))


@given(rankings)
def test_scores_never_rise_down_the_order(rankings: list[list[int]]) -> None:
    scores = [score(rankings, chunk_id) for chunk_id in fuse(rankings)]
    assert all(earlier >= later - 1e-12 for earlier, later in itertools.pairwise(scores))


@given(rankings, st.permutations(range(31)))
def test_what_an_id_is_does_not_matter(rankings: list[list[int]], other: list[int]) -> None:
    renamed = [[other[chunk_id] for chunk_id in ranking] for ranking in rankings]
    assert fuse(renamed) == [other[chunk_id] for chunk_id in fuse(rankings)]


@given(st.lists(st.integers(), unique=True))
def test_one_ranking_stays_as_it_is(ranking: list[int]) -> None:
    assert fuse([ranking]) == ranking
    assert fuse([ranking, ranking, []]) == ranking


@given(rankings, st.integers(0, 30))
def test_a_better_rank_never_makes_an_id_fall(rankings: list[list[int]], chunk_id: int) -> None:
    promoted = [[chunk_id, *(other for other in ranking if other != chunk_id)] for ranking in rankings]
    before, after = fuse(rankings), fuse(promoted)
    if chunk_id in before:
        assert after.index(chunk_id) <= before.index(chunk_id)


def test_two_middling_ranks_beat_one_first_rank() -> None:
    assert fuse([[1, 2, 9], [3, 4, 9]])[0] == 9  # 2/63 > 1/61


def test_ties_go_to_the_first_ranking_whatever_the_ids() -> None:
    assert fuse([[7], [3]]) == [7, 3]
    assert fuse([[3], [7]]) == [3, 7]
    assert fuse([[1, 2], [2, 1]]) == [1, 2]


def test_an_id_counts_once_in_a_ranking() -> None:
    assert fuse([[5, 6, 5, 5], [6]]) == [6, 5]


def test_a_negative_constant_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        fuse([[1]], k=-1)
