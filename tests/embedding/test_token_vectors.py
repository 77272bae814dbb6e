from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ragchat.embedding.token_vectors import none_of, projection, scheme, stacked, to_bytes
from ragchat.errors import EmbedderUnavailable


@pytest.mark.parametrize(("width", "kept"), [(384, 128), (128, 128), (32, 32), (1, 1)])
def test_a_projection_has_orthonormal_columns_and_is_always_the_same(width: int, kept: int) -> None:
    matrix = projection(width)
    assert matrix.shape == (width, kept)
    assert matrix.dtype == np.float32
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(kept), atol=1e-6)
    np.testing.assert_array_equal(matrix, projection(width))


def test_the_projection_is_the_one_that_the_stamp_names() -> None:
    """Other numbers would need another name: indexes that were made before must not be read with them."""
    assert scheme(384) == "orthonormal 384>128 int8"
    np.testing.assert_allclose(projection(384)[0, :3], [-0.03486, -0.03984, 0.09044], atol=1e-4)
    assert scheme(0) == ""


def test_a_narrow_model_loses_nothing() -> None:
    rows = np.random.default_rng(1).standard_normal((5, 32)).astype(np.float32)
    projected = rows @ projection(32)
    np.testing.assert_allclose(projected @ projected.T, rows @ rows.T, rtol=1e-4, atol=1e-4)


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
