"""BM25 over the tokens of chunks: rank-bm25's Okapi class with this house's parameters.

score(D, Q) = Σ over the tokens q of Q  idf(q) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · |D| / avgdl))
idf(q) = ln(1 + (N − n + 0.5) / (n + 0.5)), never negative (Robertson & Zaragoza 2009; Lucene's form).
k1 = 1.2, b = 0.75.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi

K1 = 1.2
B = 0.75

Rows = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]

_NOWHERE: Rows = np.zeros(0, dtype=np.int64)


class Lexical(BM25Okapi):  # type: ignore[misc]  # rank-bm25 carries no types
    """Rows are positions in the sequence of token lists it is made from.

    The base class counts; scores are summed over the rows that hold a token instead of over every row, which
    is the same number (a test compares them) at a hundredth of the time.
    """

    def __init__(self, tokens_of_rows: Sequence[Sequence[str]]) -> None:
        self._postings: dict[str, tuple[array[int], array[int]]] = {}  # token -> its rows, its counts there
        self._lengths = np.array([len(tokens) for tokens in tokens_of_rows], dtype=np.float64)
        if tokens_of_rows:  # the base class divides by the number of rows
            super().__init__(tokens_of_rows, k1=K1, b=B)

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {
            token: math.log(1 + (self.corpus_size - count + 0.5) / (count + 0.5))
            for token, count in nd.items()
        }
        for row, frequencies in enumerate(self.doc_freqs):
            for token, count in frequencies.items():
                rows, counts = self._postings.setdefault(token, (array("q"), array("q")))
                rows.append(row)
                counts.append(count)

    def get_scores(self, query: Sequence[str]) -> Scores:
        """BM25 of every row, shape (rows,); a token that the question repeats counts as often."""
        scores = np.zeros(len(self._lengths))
        for token in query:
            if token in self._postings:
                rows, counts = (np.frombuffer(part, dtype=np.int64) for part in self._postings[token])
                norm = K1 * (1 - B + B * self._lengths[rows] / self.avgdl)
                scores[rows] += self.idf[token] * counts * (K1 + 1) / (counts + norm)
        return scores

    def rows(self, token: str) -> Rows:
        """Rows that hold the token, ascending."""
        if token not in self._postings:
            return _NOWHERE
        return np.frombuffer(self._postings[token][0], dtype=np.int64)

    def document_frequency(self, token: str) -> int:
        """How many rows hold the token."""
        return len(self.rows(token))
