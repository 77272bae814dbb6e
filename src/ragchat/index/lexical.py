"""The best chunks by BM25, exactly, without scoring every chunk that holds a common word.

MaxScore (Turtle & Flood 1995, IPM 31:831): terms are taken in the order of the most they can add. When all
that are left cannot lift a chunk that holds none of the former over the best `limit` so far, only the chunks
met already are looked up in them. Sums are in float32 with a bounded error; what may belong to the best is
computed again in float64, so that scores and their order are those of the plain formula.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ragchat.index.bm25 import DECIMALS, K1, B, idf, norms
from ragchat.index.dense import places_of_best
from ragchat.index.postings import Postings
from ragchat.index.ranking import Best, DocumentOrder, Ids, as_numbered
from ragchat.index.segment import Mask, Part

Rows = npt.NDArray[np.integer[Any]]
Scores = npt.NDArray[np.float32]

_BLOCK_ROWS = 1 << 16
"""A column is scored in blocks that stay in the processor's cache."""


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the question in one segment. weight: idf, times how often the question says it.

    bound: the most it adds to a row. order: its place in the question, in which exact sums are taken.
    """

    number: int
    weight: float
    bound: float
    order: int


class Lexical:
    """BM25 over the rows of several segments that can be found. Safe to use from several threads."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self.total = sum(part.live for part in parts)
        lengths = sum(int(_live(part.segment.postings.lengths, part.mask).sum()) for part in parts)
        self._average = lengths / self.total if lengths else 1.0
        self._frequencies: dict[str, tuple[int, list[int]]] = {}
        self._norms: dict[int, Scores] = {}

    def frequency(self, token: str) -> int:
        """How many rows that can be found hold the token."""
        return self._known(token)[0]

    def holding(self, token: str, masks: Sequence[Mask | None]) -> tuple[Ids, Ids]:
        """Ids of the chunks that hold it and that the masks admit, and of their documents."""
        ids, documents = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for part, mask, number in zip(self._parts, masks, self._known(token)[1], strict=True):
            if number >= 0:
                rows = part.segment.postings.of(number)[0]
                rows = rows if mask is None else rows[mask[rows]]
                ids.append(part.segment.ids[rows])
                documents.append(part.segment.documents[rows])
        return np.concatenate(ids), np.concatenate(documents)

    def best(
        self,
        tokens: Sequence[str],
        limit: int,
        masks: Sequence[Mask | None],
        document_order: DocumentOrder = as_numbered,
    ) -> list[tuple[float, int]]:
        """(score, chunk id) of the `limit` best rows that the masks admit, best first, none with score 0."""
        weights = {
            token: idf(self.total, self.frequency(token)) * times
            for token, times in Counter(tokens).items()
            if self.frequency(token)
        }
        if limit <= 0 or not weights:
            return []
        best = Best(limit)
        order = sorted(range(len(self._parts)), key=lambda place: -len(self._parts[place].segment))
        for place in order:
            terms = self._terms(place, weights)
            if not terms:
                continue
            segment = self._parts[place].segment
            rows = _contenders(
                segment.postings, self._norms_of(place), terms, limit, masks[place], max(best.floor, 0.0)
            )
            best.add(self._exact(segment.postings, terms, rows), segment.ids[rows], segment.documents[rows])
        return best.in_order(document_order)

    def _known(self, token: str) -> tuple[int, list[int]]:
        """In how many rows it stands, and its number in each segment."""
        if token not in self._frequencies:
            numbers = [part.segment.postings.find(token) for part in self._parts]
            holding = 0
            for part, number in zip(self._parts, numbers, strict=True):
                if number >= 0:
                    rows = part.segment.postings.of(number)[0]
                    holding += len(rows) if part.mask is None else int(np.count_nonzero(part.mask[rows]))
            self._frequencies[token] = holding, numbers
        return self._frequencies[token]

    def _terms(self, place: int, weights: Mapping[str, float]) -> list[Term]:
        postings = self._parts[place].segment.postings
        # A term's bound was taken at the segment's own average length. Where chunks are longer now, a norm is
        # smaller by that factor at the most, and so the bound greater.
        stretch = max(1.0, self._average / postings.average) * (1 + 1e-6)
        terms = []
        for order, (token, weight) in enumerate(weights.items()):
            number = self._known(token)[1][place]
            if number >= 0:
                bound = weight * min(K1 + 1, float(postings.best[number]) * stretch)
                terms.append(Term(number, weight, bound, order))
        return sorted(terms, key=lambda term: (-term.bound, term.number))

    def _norms_of(self, place: int) -> Scores:
        if place not in self._norms:
            lengths = self._parts[place].segment.postings.lengths
            self._norms[place] = lengths * np.float32(K1 * B / self._average) + np.float32(K1 * (1 - B))
        return self._norms[place]

    def _exact(self, postings: Postings, terms: Sequence[Term], rows: Rows) -> npt.NDArray[np.float64]:
        scores = np.zeros(len(rows), dtype=np.float64)
        norm = norms(postings.lengths[rows], self._average)
        for term in sorted(terms, key=lambda term: term.order):
            counts = postings.counts_in(term.number, rows)
            scores += term.weight * counts * (K1 + 1) / (counts + norm)
        return np.round(scores, DECIMALS)


def _contenders(
    postings: Postings, norm: Scores, terms: Sequence[Term], limit: int, mask: Mask | None, floor: float
) -> Rows:
    """Rows among which the `limit` best of this segment are, as far as they reach the floor."""
    slack = (len(terms) + 8) * 2.0**-22  # of the sum: each addition and product rounds once
    left = np.cumsum([term.bound for term in reversed(terms)])[::-1].tolist()
    if left[0] < floor * (1 - slack):
        return np.zeros(0, dtype=np.int64)
    met = _Met(len(norm), mask)
    for place, term in enumerate(terms):
        floor = max(floor, met.floor(limit, floor, left[place]))
        if left[place] < floor * (1 - slack):
            return _looked_up(postings, norm, terms[place:], left[place:], met, limit, floor, slack)
        column = postings.column(term.number)
        if column is None:
            rows, counts = postings.of(term.number)
            met.add(rows, counts, norm, term.weight)
        else:
            met.add_column(column, norm, term.weight)
    return met.best(limit, floor, slack)


class _Met:
    """The sums of the rows met so far. Rows that the mask does not admit are never met."""

    def __init__(self, size: int, mask: Mask | None) -> None:
        self.sums: Scores = np.zeros(size, dtype=np.float32)
        self._mask = mask
        self._rows: list[Rows] | None = []  # None: any row may have been met

    def add(self, rows: Rows, counts: Rows, norm: Scores, weight: float) -> None:
        if self._mask is not None:
            admitted = self._mask[rows]
            rows, counts = rows[admitted], counts[admitted]
        before = self.sums[rows]
        self.sums[rows] = before + _worth(counts, norm[rows], weight)
        if self._rows is not None:
            self._rows.append(rows[before == 0])

    def add_column(self, column: Rows, norm: Scores, weight: float) -> None:
        for start in range(0, len(column), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            worth = _worth(column[block], norm[block], weight)
            if self._mask is not None:
                worth *= self._mask[block]
            self.sums[block] += worth
        self._rows = None

    def reaching(self, least: float) -> Rows:
        """Rows met whose sums are so large; least > 0."""
        if self._rows is None:
            return np.flatnonzero(self.sums >= least)
        rows = self.rows()
        return rows[self.sums[rows] >= least]

    def rows(self) -> Rows:
        """Rows met, each once, where they are few."""
        assert self._rows is not None
        self._rows = [np.concatenate(self._rows)] if self._rows else []
        return self._rows[0] if self._rows else np.zeros(0, dtype=np.int64)

    def floor(self, limit: int, known: float, left: float) -> float:
        """The limit-th best sum, 0.0 where fewer rows are met or it would not end the search."""
        if left < known:
            return known
        sums = self.sums if self._rows is None else self.sums[self.rows()]
        if len(sums) < limit:
            return 0.0
        places = places_of_best(sums, limit)
        return float(np.partition(sums[places], -limit)[-limit])

    def best(self, limit: int, floor: float, slack: float) -> Rows:
        rows = None if self._rows is None else self.rows()
        sums = self.sums if rows is None else self.sums[rows]
        at_least = max(float(np.finfo(np.float32).tiny), floor * (1 - slack))
        largest = float(sums.max(initial=0.0))
        places = places_of_best(sums, limit, slack * largest, at_least)
        return places if rows is None else rows[places]


def _looked_up(
    postings: Postings,
    norm: Scores,
    terms: Sequence[Term],
    left: Sequence[float],
    met: _Met,
    limit: int,
    floor: float,
    slack: float,
) -> Rows:
    """Of the rows met, those that the terms left can still lift among the best."""
    rows = met.reaching((floor * (1 - slack) - left[0]) * (1 - slack))
    sums = met.sums[rows].astype(np.float64)
    for term, most in zip(terms, left, strict=True):
        stays = sums + most >= floor * (1 - slack)
        rows, sums = rows[stays], sums[stays]
        counts = postings.counts_in(term.number, rows)
        sums += _worth(counts, norm[rows], term.weight)
        if len(sums) > limit:
            floor = max(floor, float(np.partition(sums, -limit)[-limit]))
    stays = sums >= floor * (1 - slack)
    return rows[stays]


def _worth(counts: Rows, norm: Scores, weight: float) -> Scores:
    worth = counts.astype(np.float32)
    norm = norm + worth
    worth *= np.float32(weight * (K1 + 1))
    worth /= norm
    return worth


def _live(lengths: Rows, mask: Mask | None) -> Rows:
    return lengths if mask is None else lengths[mask]
