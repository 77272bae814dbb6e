"""BM25 over rows that come and go, for what waits to be embedded; the index itself has `lexical`.

The formula and its parameters are those of `bm25`, so that scores of both can stand in one order.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ragchat.index.bm25 import K1, B


class Words:
    """Rows of tokens. count: how many rows there are."""

    def __init__(self) -> None:
        self.count = 0
        self._postings: dict[str, tuple[array[int], array[int]]] = {}  # token -> its rows, its counts there
        self._lengths = array("d")
        self._there = array("b")
        self._length = 0

    def add(self, tokens_of_rows: Sequence[Sequence[str]]) -> range:
        """Add rows; which they are."""
        first = len(self._lengths)
        for row, tokens in enumerate(tokens_of_rows, start=first):
            for token, count in Counter(tokens).items():
                rows, counts = self._postings.setdefault(token, (array("q"), array("q")))
                rows.append(row)
                counts.append(count)
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
        if token not in self._postings:
            return 0
        rows = np.array(self._postings[token][0])
        return int(np.count_nonzero(np.array(self._there)[rows]))

    def best(self, tokens: Sequence[str]) -> list[int]:
        """Rows that hold some of the tokens, by descending score; ties in the order they came."""
        scores = np.zeros(len(self._lengths))
        there, lengths = np.array(self._there, dtype=bool), np.array(self._lengths)
        average = self._length / self.count if self.count else 1.0
        for token in tokens:
            if token in self._postings:
                rows, counts = (np.array(part) for part in self._postings[token])
                keep = there[rows]
                rows, counts = rows[keep], counts[keep]
                scores[rows] += idf(self.count, len(rows)) * term_weight(counts, lengths[rows], average)
        order = np.argsort(-scores, kind="stable")
        return [int(row) for row in order[: np.count_nonzero(scores > 0)]]


def idf(rows: int, frequency: int) -> float:
    """ln(1 + (N - n + 0.5) / (n + 0.5)), as in `bm25`."""
    return math.log(1 + (rows - frequency + 0.5) / (frequency + 0.5))


def term_weight(
    count: np.ndarray[tuple[int], np.dtype[np.int64]],
    length: np.ndarray[tuple[int], np.dtype[np.float64]],
    average: float,
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """tf (k1 + 1) / (tf + k1 (1 - b + b |D| / avgdl)), as in `bm25`."""
    weight: np.ndarray[tuple[int], np.dtype[np.float64]] = (
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
