from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ragchat.embedding.bundled_questions import load_off_topic_questions, set_version
from ragchat.embedding.embedder import Matrix
from ragchat.embedding.token_vectors import none_of, principal_directions, scheme, stacked, to_bytes
from ragchat.errors import EmbedderUnavailable


def _token_states(width: int) -> Matrix:
    """Lengths differ, and directions crowd along the first axes."""
    states = np.random.default_rng(7).standard_normal((2000, width)) * 0.8 ** np.arange(width)
    return states.astype(np.float32)


@pytest.mark.parametrize(("width", "kept"), [(384, 128), (128, 128), (32, 32), (1, 1)])
def test_a_projection_has_orthonormal_columns(width: int, kept: int) -> None:
    matrix = principal_directions(_token_states(width), model="any")
    assert matrix.shape == (width, kept)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(kept), atol=1e-5)


def test_a_projection_keeps_what_varies_most_with_one_sign() -> None:
    states = _token_states(384)
    matrix = principal_directions(states, model="any")
    np.testing.assert_array_equal(np.argmax(np.abs(matrix[:, :5]), axis=0), np.arange(5))
    assert np.all(np.max(matrix, axis=0) == np.max(np.abs(matrix), axis=0))
    units = states / np.linalg.norm(states, axis=1, keepdims=True)
    assert np.linalg.norm(units @ matrix) > 0.999 * np.linalg.norm(units)


def test_a_token_counts_by_its_direction_not_by_its_length() -> None:
    states = _token_states(64)
    longer = states * np.linspace(0.1, 10, len(states), dtype=np.float32)[:, None]
    np.testing.assert_allclose(
        principal_directions(states, model="any"), principal_directions(longer, model="any"), atol=1e-4
    )


def test_the_scheme_names_the_rule_the_widths_and_the_questions() -> None:
    questions = set_version(load_off_topic_questions())
    assert scheme(384) == f"pca-1 384>128 int8 {questions}"
    assert scheme(96) == f"pca-1 96>96 int8 {questions}"
    assert scheme(0) == ""


def test_a_narrow_model_loses_nothing() -> None:
    rows = _token_states(32)[:5]
    projected = rows @ principal_directions(_token_states(32), model="any")
    np.testing.assert_allclose(projected @ projected.T, rows @ rows.T, rtol=1e-4, atol=1e-3)


@given(hnp.arrays(np.float32, (3, 16), elements=st.floats(-1e6, 1e6, width=32)))
def test_rounding_keeps_directions(rows: np.ndarray) -> None:
    if not np.all(np.linalg.norm(rows.astype(np.float64), axis=1) > 0):
        return
    rounded = to_bytes(rows, model="any").astype(np.float64)
    cosines = np.sum(rounded * rows, axis=1) / np.linalg.norm(rounded, axis=1)
    assert np.all(cosines / np.linalg.norm(rows.astype(np.float64), axis=1) > 0.9995)
    assert np.all(np.max(np.abs(rounded), axis=1) == 127)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_a_token_without_a_direction_is_an_error(bad: float) -> None:
    with pytest.raises(EmbedderUnavailable, match="without a direction"):
        to_bytes(np.full((2, 4), bad, dtype=np.float32), model="any")


def test_texts_own_consecutive_rows() -> None:
    texts = [np.full((n, 2), n, dtype=np.int8) for n in (2, 0, 3)]
    tokens = stacked(texts, 2)
    assert tokens.offsets.tolist() == [0, 2, 2, 5]
    assert tokens.offsets.dtype == np.int64
    assert [tokens.rows(at).tolist() for at in range(3)] == [[[2, 2]] * 2, [], [[3, 3]] * 3]


def test_no_texts_and_no_tokens_have_shapes_too() -> None:
    assert stacked([], 128).data.shape == (0, 128)
    assert stacked([], 128).offsets.tolist() == [0]
    assert none_of(2).offsets.tolist() == [0, 0, 0]
    assert none_of(2).data.shape == (0, 0)
