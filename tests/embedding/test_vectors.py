from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ragchat.embedding.vectors import assert_unit, mean_direction, unit_rows
from ragchat.errors import EmbedderUnavailable

Rows = npt.NDArray[np.float64]
rows = arrays(np.float64, st.tuples(st.integers(1, 5), st.just(8)), elements=st.floats(-1e6, 1e6, width=32))


@settings(deadline=None)
@given(rows)
def test_rows_become_unit_vectors_of_the_same_direction(matrix: Rows) -> None:
    lengths = np.linalg.norm(matrix, axis=1)
    assume(lengths.min() > 1e-3)
    unit = unit_rows(matrix, model="m")
    assert unit.dtype == np.float32
    assert unit.shape == matrix.shape
    assert_unit(unit, model="m")
    assert np.allclose(unit * lengths[:, None], matrix, rtol=1e-5, atol=1e-6 * lengths.max())


@settings(deadline=None)
@given(rows, rows)
def test_cosine_distance_is_half_the_squared_euclidean_distance(left: Rows, right: Rows) -> None:
    assume(min(np.linalg.norm(left[0]), np.linalg.norm(right[0])) > 1e-3)
    a, b = unit_rows(left[:1], model="m")[0], unit_rows(right[:1], model="m")[0]
    squared = float(np.sum((a.astype(np.float64) - b) ** 2))
    assert math.isclose(1.0 - float(a @ b), squared / 2, abs_tol=1e-6)


def test_the_mean_of_two_directions_lies_between_them() -> None:
    mean = mean_direction([[1.0, 0.0], [0.0, 1.0]], model="m")
    assert np.allclose(mean, [math.sqrt(0.5), math.sqrt(0.5)])


@pytest.mark.parametrize("bad", [0.0, math.nan, math.inf])
def test_a_vector_without_a_direction_is_refused_by_name(bad: float) -> None:
    with pytest.raises(EmbedderUnavailable, match="bge-m3 gave a vector without a direction"):
        unit_rows([[1.0, 0.0], [bad, 0.0]], model="bge-m3")


def test_vectors_of_another_length_are_refused_when_asserted() -> None:
    with pytest.raises(EmbedderUnavailable, match=r"length 2\.0000"):
        assert_unit(np.asarray([[2.0, 0.0]], dtype=np.float32), model="m")
