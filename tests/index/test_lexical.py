from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ragchat.index.lexical import Lexical
from ragchat.index.postings import Postings, build_postings, merge_postings
from ragchat.index.segment import Part, Segment

_WORDS = st.sampled_from("abcdefghij")
_ROWS = st.lists(st.lists(_WORDS, max_size=12), min_size=1, max_size=30)
_QUERY = st.lists(st.sampled_from("abcdefghijxyz"), max_size=6)


def plain_bm25(rows: list[list[str]], query: list[str]) -> list[float]:
    average = sum(map(len, rows)) / len(rows)
    sets = [set(row) for row in rows]
    holders = {token: sum(token in row for row in sets) for token in query}
    scores = []
    for row in rows:
        counts, score = Counter(row), 0.0
        for token in query:
            holding = holders[token]
            if counts[token]:
                idf = math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))
                norm = counts[token] + 1.2 * (1 - 0.75 + 0.75 * len(row) / average)
                score += idf * counts[token] * 2.2 / norm
        scores.append(score)
    return scores


class RankBm25(BM25Okapi):  # type: ignore[misc]  # rank-bm25 carries no types
    """The package's class with our constants; its own idf can be negative, which it then raises."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        size = self.corpus_size
        self.idf = {token: math.log(1 + (size - count + 0.5) / (count + 0.5)) for token, count in nd.items()}


def segment(rows: list[list[str]], first_id: int = 0) -> Segment:
    ids = np.arange(first_id, first_id + len(rows))
    words = ["\n".join(row) for row in rows]
    return Segment(ids, ids, np.zeros((len(rows), 1), np.float32), build_postings(words))


def lexical_of(rows: list[list[str]], cuts: list[int], dead: set[int]) -> Lexical:
    """Rows spread over several segments, some of them dead. A row's number is its chunk's id."""
    parts = []
    edges = sorted({0, len(rows), *(cut % (len(rows) + 1) for cut in cuts)})
    for first, last in itertools.pairwise(edges):
        mask = np.array([row not in dead for row in range(first, last)])
        parts.append(Part(segment(rows[first:last], first), None if mask.all() else mask))
    return Lexical(parts)


def expected(rows: list[list[str]], query: list[str], dead: set[int], limit: int) -> list[tuple[float, int]]:
    live = [row for row in range(len(rows)) if row not in dead]
    scores = plain_bm25([rows[row] for row in live], query) if live else []
    found = [(score, row) for score, row in zip(scores, live, strict=True) if score > 0]
    return sorted(found, key=lambda pair: (-round(pair[0], 9), pair[1]))[:limit]


def masks(lexical: Lexical) -> list[np.ndarray[tuple[int], np.dtype[np.bool_]] | None]:
    return [part.mask for part in lexical._parts]


@pytest.fixture(params=[(10**9, 16), (0, 16), (10**9, 0)], ids=["postings", "columns", "few"], autouse=True)
def _columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way that the size of an index chooses, for small ones too."""
    columns, looked_up = request.param
    monkeypatch.setattr("ragchat.index.postings._COLUMN_ROWS", columns)
    monkeypatch.setattr("ragchat.index.postings._LOOKED_UP_SHARE", looked_up)


@pytest.mark.usefixtures("_columns")
@given(
    _ROWS, _QUERY, st.lists(st.integers(0, 30), max_size=3), st.sets(st.integers(0, 29)), st.integers(0, 9)
)
def test_the_best_are_those_of_the_formula(
    rows: list[list[str]], query: list[str], cuts: list[int], dead: set[int], limit: int
) -> None:
    lexical = lexical_of(rows, cuts, dead)
    best = lexical.best(query, limit, masks(lexical))
    wanted = expected(rows, query, dead, limit)
    assert [score for score, _ in best] == pytest.approx([score for score, _ in wanted], abs=1e-9)
    assert [row for _, row in best] == [row for _, row in wanted]


@given(_ROWS, _QUERY)
def test_scores_are_those_of_rank_bm25(rows: list[list[str]], query: list[str]) -> None:
    if not any(rows):  # the package divides by the average length
        return
    lexical = lexical_of(rows, [], set())
    reference = RankBm25(rows, k1=1.2, b=0.75).get_scores(query)
    best = lexical.best(query, len(rows), masks(lexical))
    assert {row: score for score, row in best} == pytest.approx(
        {row: score for row, score in enumerate(reference) if score > 0}, abs=1e-6
    )


def test_many_rows_and_words_of_every_frequency() -> None:
    chance = np.random.default_rng(3)
    words = [f"w{number}" for number in range(400)]
    weights = 1 / np.arange(1, 401)
    rows = [
        list(chance.choice(words, size=chance.integers(1, 60), p=weights / weights.sum()))
        for _ in range(3000)
    ]
    dead = set(chance.integers(0, 3000, 200).tolist())
    lexical = lexical_of(rows, [2000, 2900], dead)
    for size in (1, 2, 4, 8, 20):
        for _ in range(3):
            query = list(chance.choice(words, size=size))
            for limit in (1, 25):
                best = lexical.best(query, limit, masks(lexical))
                wanted = expected(rows, query, dead, limit)
                assert [row for _, row in best] == [row for _, row in wanted]
    stopwords = words[:6]
    best = lexical.best(stopwords, 40, masks(lexical))
    assert [row for _, row in best] == [row for _, row in expected(rows, stopwords, dead, 40)]


@given(_ROWS)
def test_a_word_in_every_row_still_counts_for_it(rows: list[list[str]]) -> None:
    rows = [[*row, "everywhere"] for row in rows]
    lexical = lexical_of(rows, [], set())
    assert len(lexical.best(["everywhere"], 99, masks(lexical))) == len(rows)


@given(_ROWS, st.lists(st.integers(0, 30), max_size=3), st.sets(st.integers(0, 29)))
def test_merged_postings_are_those_of_the_rows_that_stay(
    rows: list[list[str]], cuts: list[int], dead: set[int]
) -> None:
    parts = lexical_of(rows, cuts, dead)._parts
    merged = merge_postings([(part.segment.postings, part.mask) for part in parts])
    anew = build_postings(["\n".join(row) for number, row in enumerate(rows) if number not in dead])
    assert readable(merged) == readable(anew)
    np.testing.assert_allclose(merged.best, anew.best, rtol=1e-6)


def readable(postings: Postings) -> object:
    terms = postings.terms()
    held = [tuple(part.tolist() for part in postings.of(number)) for number in range(len(terms))]
    columns = [postings.columns[place].tolist() for place in range(len(postings.column_terms))]
    return terms, held, postings.lengths.tolist(), postings.column_terms.tolist(), columns


def test_rows_of_a_token() -> None:
    lexical = lexical_of([["a"], ["b", "a", "a"], ["b"]], [1], {2})
    assert lexical.holding("a", masks(lexical))[0].tolist() == [0, 1]
    assert lexical.holding("b", masks(lexical))[0].tolist() == [1]
    assert lexical.holding("none", masks(lexical))[0].tolist() == []
    assert (lexical.frequency("b"), lexical.frequency("none"), lexical.frequency("\ud800")) == (1, 0, 0)


def test_words_that_stand_more_than_255_times() -> None:
    rows = [["often"] * 300 + ["other"], ["often"], ["other"] * 70_000]
    lexical = lexical_of(rows, [1], set())
    merged = merge_postings([(part.segment.postings, part.mask) for part in lexical._parts])
    assert merged.of(merged.find("often"))[1].tolist() == [300, 1]
    assert merged.of(merged.find("other"))[1].tolist() == [1, 70_000]
    assert [row for _, row in lexical.best(["often"], 9, masks(lexical))] == [0, 1]


def test_no_rows_at_all() -> None:
    lexical = Lexical([])
    assert lexical.best(["a"], 9, []) == []
    assert lexical.frequency("a") == 0
