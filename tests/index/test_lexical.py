from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from ragchat.index.lexical import Lexical

_WORDS = st.sampled_from("abcdef")
_ROWS = st.lists(st.lists(_WORDS, max_size=12), min_size=1, max_size=12)


def plain_bm25(rows: list[list[str]], query: list[str]) -> list[float]:
    average = sum(map(len, rows)) / len(rows)
    scores = []
    for row in rows:
        counts, score = Counter(row), 0.0
        for token in query:
            holding = sum(token in other for other in rows)
            if counts[token]:
                idf = math.log(1 + (len(rows) - holding + 0.5) / (holding + 0.5))
                norm = counts[token] + 1.2 * (1 - 0.75 + 0.75 * len(row) / average)
                score += idf * counts[token] * 2.2 / norm
        scores.append(score)
    return scores


@given(_ROWS, st.lists(st.sampled_from("abcdefxyz"), max_size=6))
def test_scores_are_those_of_the_formula(rows: list[list[str]], query: list[str]) -> None:
    assert Lexical(rows).get_scores(query) == pytest.approx(plain_bm25(rows, query), abs=1e-9)


@given(_ROWS, st.lists(_WORDS, max_size=6))
def test_scores_are_those_of_the_base_class(rows: list[list[str]], query: list[str]) -> None:
    lexical = Lexical(rows)
    if any(rows):  # the base class divides by the average length
        np.testing.assert_allclose(
            lexical.get_scores(query), BM25Okapi.get_scores(lexical, query), atol=1e-12
        )


@given(_ROWS)
def test_a_word_in_every_row_still_counts_for_it(rows: list[list[str]]) -> None:
    rows = [[*row, "everywhere"] for row in rows]
    assert (Lexical(rows).get_scores(["everywhere"]) > 0).all()


def test_rows_of_a_token() -> None:
    lexical = Lexical([["a"], ["b", "a", "a"], ["b"]])
    assert lexical.rows("a").tolist() == [0, 1]
    assert lexical.rows("none").tolist() == []
    assert (lexical.document_frequency("b"), lexical.document_frequency("none")) == (2, 0)


def test_no_rows_at_all() -> None:
    lexical = Lexical([])
    assert lexical.get_scores(["a"]).tolist() == []
    assert lexical.document_frequency("a") == 0
