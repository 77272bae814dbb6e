"""The formula of BM25, alone.

score(D, Q) = Σ over the tokens q of Q  idf(q) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · |D| / avgdl))
idf(q) = ln(1 + (N − n + 0.5) / (n + 0.5)), never negative (Robertson & Zaragoza 2009; Lucene's form).
k1 = 1.2, b = 0.75. N, n and avgdl are those of the chunks that can be found now.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

K1 = 1.2
B = 0.75

DECIMALS = 9
"""Scores are rounded to these: what differs later differs by the order in which the terms were added."""


def idf(total: int, holding: int) -> float:
    """Of a term that `holding` of `total` chunks hold."""
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))


def norms(lengths: npt.NDArray[Any], average: float) -> npt.NDArray[np.float64]:
    """k1 · (1 − b + b · |D| / avgdl), shape as lengths."""
    result: npt.NDArray[np.float64] = lengths * (K1 * B / average) + K1 * (1 - B)
    return result


def saturation(
    counts: npt.NDArray[Any], lengths: npt.NDArray[Any], average: float
) -> npt.NDArray[np.float64]:
    """tf · (k1 + 1) / (tf + norm): what the term's frequency in each chunk is worth, below k1 + 1."""
    result: npt.NDArray[np.float64] = counts * (K1 + 1) / (counts + norms(lengths, average))
    return result
