from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ragchat.retrieval.late import closeness, rank_scores

DIMENSIONS = 4
rows = st.integers(-127, 127)


def matrices(smallest: int) -> st.SearchStrategy[np.ndarray]:
    shapes = st.tuples(st.integers(smallest, 5), st.just(DIMENSIONS))
    return arrays.arrays(np.int8, shapes, elements=rows)


def unit(matrix: np.ndarray) -> np.ndarray:
    wide: np.ndarray = matrix.astype(np.float64)
    units: np.ndarray = wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-9)
    return units


def plain_maxsim(question: np.ndarray, passage: np.ndarray) -> float:
    """The definition, word for word; 0 for a passage without any."""
    if not len(passage):
        return 0.0
    return float(np.mean([max(float(q @ p) for p in unit(passage)) for q in question]))


@given(matrices(1), st.lists(st.tuples(matrices(0), st.integers(0, 6)), max_size=5))
def test_it_is_the_mean_over_the_question_of_the_best_cosine(
    asked: np.ndarray, passages: list[tuple[np.ndarray, int]]
) -> None:
    question = unit(asked).astype(np.float32)
    found = closeness(question, [passage for passage, _ in passages], [header for _, header in passages])
    assert found.whole.shape == found.wording.shape == (len(passages),)
    for at, (passage, header) in enumerate(passages):
        words = passage[header:] if header < len(passage) else passage
        assert found.whole[at] == pytest.approx(
            plain_maxsim(question, passage) if len(passage) else 0, abs=1e-5
        )
        assert found.wording[at] == pytest.approx(
            plain_maxsim(question, words) if len(words) else 0, abs=1e-5
        )
        assert -1.0001 <= found.wording[at] <= found.whole[at] + 1e-5


@given(matrices(1), matrices(1), matrices(1))
def test_more_words_in_a_passage_never_lower_it(asked: np.ndarray, one: np.ndarray, more: np.ndarray) -> None:
    question = unit(asked).astype(np.float32)
    found = closeness(question, [one, np.concatenate([one, more])], [0, 0])
    assert found.whole[1] >= found.whole[0] - 1e-6


def test_a_header_alone_is_no_wording() -> None:
    question = np.eye(2, DIMENSIONS, dtype=np.float32)
    passage = np.array([[9, 0, 0, 0], [0, 9, 0, 0], [0, 0, 9, 0]], dtype=np.int8)
    found = closeness(question, [passage], [2])
    assert found.whole[0] == pytest.approx(1.0)
    assert found.wording[0] == pytest.approx(0.0)


def test_no_passages_give_no_scores() -> None:
    found = closeness(np.eye(2, DIMENSIONS, dtype=np.float32), [], [])
    assert found.whole.shape == found.wording.shape == (0,)


def test_the_score_is_four_fifths_maxsim_and_one_fifth_cosine() -> None:
    scores = rank_scores(np.array([0.5, 1.0], np.float32), np.array([0.5, 2.0], np.float32))
    assert scores.tolist() == pytest.approx([0.5, 0.6])
