"""Token vectors for late interaction: the model's own, in fewer dimensions, a byte each.

Only directions count (MaxSim compares cosines), so a row is scaled to the byte's range before it is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragchat.embedding.bundled_questions import load_off_topic_questions, set_version
from ragchat.embedding.embedder import Int8Matrix, Matrix, TokenVectors
from ragchat.embedding.vectors import unit_rows

_MOST_DIMENSIONS = 128
_LARGEST_BYTE = 127
_RULE = "pca-1"
"""Another rule needs another name: token vectors of two rules are never compared."""


def token_dimensions(width: int) -> int:
    """Dimensions kept of token vectors that are `width` wide."""
    return min(width, _MOST_DIMENSIONS)


def scheme(width: int) -> str:
    """How token vectors of that width are made, for the stamp; "" for a model without any."""
    if not width:
        return ""
    return f"{_RULE} {width}>{token_dimensions(width)} int8 {set_version(load_off_topic_questions())}"


def principal_directions(rows: Matrix, *, model: str) -> Matrix:
    """The projection: orthonormal columns along which unit token vectors vary most, without centring.

    rows: token vectors of the bundled questions, shape (tokens, width). Result: shape (width,
    token_dimensions(width)); the largest component of a column is positive, so that it is the same
    everywhere. Measured on three sets: MRR 0.829 with all 384 dimensions, 0.824 with these 128, 0.80 with 128
    random ones.
    """
    units = unit_rows(rows, model=model).astype(np.float64)
    width = units.shape[1]
    _, vectors = np.linalg.eigh(units.T @ units)
    largest_first = vectors[:, ::-1][:, : token_dimensions(width)]
    peaks = np.argmax(np.abs(largest_first), axis=0)
    signs = np.sign(largest_first[peaks, np.arange(largest_first.shape[1])])
    return np.ascontiguousarray(largest_first * signs, dtype=np.float32)


def to_bytes(rows: Matrix, *, model: str) -> Int8Matrix:
    """The same directions in int8, shape as given. Raises EmbedderUnavailable where a row has none."""
    units = unit_rows(rows, model=model)
    largest = np.max(np.abs(units), axis=1, keepdims=True, initial=0.0)
    rounded: Int8Matrix = np.rint(units * (_LARGEST_BYTE / largest)).astype(np.int8)
    return rounded


def stacked(texts: Sequence[Int8Matrix], dimensions: int) -> TokenVectors:
    """The token vectors of several texts, each of shape (its tokens, dimensions)."""
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(rows) for rows in texts], out=offsets[1:])
    empty = np.zeros((0, dimensions), dtype=np.int8)
    return TokenVectors(offsets, np.concatenate([empty, *texts]))


def none_of(texts: int) -> TokenVectors:
    """What a model without token vectors gives for so many texts."""
    return TokenVectors(np.zeros(texts + 1, dtype=np.int64), np.zeros((0, 0), dtype=np.int8))
