"""BM25 over rows that come and go, for what waits to be embedded; the index itself has `lexical`.

The formula and its parameters are those of `bm25`, so that scores of both can stand in one order.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ragchat.index.bm25 import K1, B

_Ints = npt.NDArray[np.int64]


class Words:
    """Rows of tokens. count: how many rows there are."""

    def __init__(self) -> None:
        self.count = 0
        # A row stands under a token as often as it holds it: counting can wait until somebody asks for it.
        self._postings: defaultdict[str, list[int]] = defaultdict(list)
        self._lengths = array("d")
        self._there = array("b")
        self._length = 0

    def add(self, tokens_of_rows: Sequence[Sequence[str]]) -> range:
        """Add rows; which they are."""
        first = len(self._lengths)
        for row, tokens in enumerate(tokens_of_rows, start=first):
            for token in tokens:
                self._postings[token].append(row)
            self._lengths.append(len(tokens))
            self._there.append(1)
            self._length += len(tokens)
        self.count += len(tokens_of_rows)
        return range(first, len(self._lengths))

    def remove(self, rows: range) -> None:
        """These are no longer found."""
        for row in rows:
            self._there[row] = 0
            self._length -= int(self._lengths[row])
        self.count -= len(rows)

    def frequency(self, token: str) -> int:
        """In how many rows the token stands."""
        return len(self._holding(token, np.array(self._there, dtype=bool))[0])

    def best(self, tokens: Sequence[str]) -> list[int]:
        """Rows that hold some of the tokens, by descending score; ties in the order they came."""
        scores = np.zeros(len(self._lengths))
        there, lengths = np.array(self._there, dtype=bool), np.array(self._lengths)
        average = self._length / self.count if self.count else 1.0
        for token in tokens:
            rows, counts = self._holding(token, there)
            scores[rows] += idf(self.count, len(rows)) * term_weight(counts, lengths[rows], average)
        order = np.argsort(-scores, kind="stable")
        return [int(row) for row in order[: np.count_nonzero(scores > 0)]]

    def _holding(self, token: str, there: npt.NDArray[np.bool_]) -> tuple[_Ints, _Ints]:
        """Rows that hold the token and are found, and how often each does."""
        every = np.array(self._postings.get(token, ()), dtype=np.int64)
        rows, counts = np.unique(every, return_counts=True)
        keep = there[rows]
        return rows[keep], counts[keep]


def idf(rows: int, frequency: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)), as in `bm25`."""
    return math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5))


def term_weight(count: _Ints, length: npt.NDArray[np.float64], average: float) -> npt.NDArray[np.float64]:
    """tf (k1 + 1) / (tf + k1 (1 - b + b |D| / avgdl)), as in `bm25`."""
    weight: npt.NDArray[np.float64] = (
        count * (K1 + 1) / (count + K1 * (1 - B + B * length / max(average, 1.0)))
    )
    return weight


def scores_of(
    tokens_of_rows: Sequence[Sequence[str]], tokens: Sequence[str], weights: Mapping[str, float]
) -> list[float]:
    """BM25 of a few rows, with idf taken from elsewhere."""
    average = sum(map(len, tokens_of_rows)) / max(len(tokens_of_rows), 1)
    found = []
    for row in tokens_of_rows:
        counts = Counter(row)
        norm = K1 * (1 - B + B * len(row) / max(average, 1.0))
        found.append(
            sum(weights[t] * counts[t] * (K1 + 1) / (counts[t] + norm) for t in tokens if t in counts)
        )
    return found
