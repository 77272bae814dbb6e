"""Token vectors for late interaction: the model's own, in fewer dimensions, a byte each.

Only directions count (MaxSim compares cosines), so a row is scaled to the byte's range before it is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragchat.embedding.embedder import Int8Matrix, Matrix, TokenVectors
from ragchat.embedding.vectors import unit_rows

_MOST_DIMENSIONS = 128
_SEED = 1729
_LARGEST_BYTE = 127


def token_dimensions(width: int) -> int:
    """Dimensions kept of token vectors that are `width` wide."""
    return min(width, _MOST_DIMENSIONS)


def scheme(width: int) -> str:
    """How token vectors of that width are made, for the stamp; "" for a model without any."""
    return f"orthonormal {width}>{token_dimensions(width)} int8" if width else ""


def projection(width: int) -> Matrix:
    """Orthonormal columns, shape (width, token_dimensions(width)): random, and the same everywhere.

    Keeps cosines up to about 1/sqrt(128) (Johnson and Lindenstrauss 1984).
    """
    # The legacy generator: its numbers are promised never to change (NEP 19).
    noise = np.random.RandomState(_SEED).standard_normal((width, token_dimensions(width)))
    orthonormal: Matrix = np.linalg.qr(noise)[0].astype(np.float32)
    return orthonormal


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
