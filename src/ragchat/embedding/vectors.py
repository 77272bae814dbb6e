"""Unit vectors: made, averaged and checked in one place for every backend."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ragchat.embedding.embedder import Matrix, Vector
from ragchat.errors import EmbedderUnavailable

UNIT_TOLERANCE = 1e-4


def unit_rows(rows: npt.ArrayLike, *, model: str) -> Matrix:
    """Rows scaled to length one, float32, shape as given (2-d).

    Raises EmbedderUnavailable when a row has no direction (all zero, NaN or infinite): a vector like that
    would be at no distance from anything.
    """
    matrix: npt.NDArray[np.float64] = np.asarray(rows, dtype=np.float64)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths)) or not np.all(lengths > 0):
        raise EmbedderUnavailable(
            f"{model} gave a vector without a direction (zero or not a number)", hint="ragchat doctor"
        )
    return np.ascontiguousarray(matrix / lengths, dtype=np.float32)


def mean_direction(rows: npt.ArrayLike, *, model: str) -> Vector:
    """The unit vector of the rows' average: how a text over the window is represented by its pieces."""
    vector: Vector = unit_rows(np.mean(np.asarray(rows), axis=0, keepdims=True), model=model)[0]
    return vector


def assert_unit(rows: Matrix, *, model: str) -> None:
    """Raise EmbedderUnavailable unless every row has length one, within 1e-4."""
    lengths = np.linalg.norm(rows, axis=1)
    if not np.all(np.abs(lengths - 1.0) <= UNIT_TOLERANCE):
        raise EmbedderUnavailable(
            f"{model} gives vectors of length {lengths[0]:.4f}, not 1: distances would be wrong",
            hint="ragchat doctor",
        )
