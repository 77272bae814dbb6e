"""Which rows hold which term, how often: sorted terms with their postings, as flat arrays.

Term t of `count` terms owns `rows[starts[t]:starts[t + 1]]`, ascending, and the `counts` beside them. Terms
are sorted by their UTF-8 bytes and found by halving, so that a vocabulary on disk is read where it is asked.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ragchat.index.bm25 import saturation

Ints = npt.NDArray[np.integer[Any]]

SEPARATOR = "\n"
"""Between the tokens of one row where they are kept as one text: no token holds white space."""

_LOOKED_UP_SHARE = 16
"""Halving for a row costs as much as spreading out so many postings."""
_TERMS_AT_ONCE = 1 << 22
"""Postings merged at once: some tens of megabytes of working memory."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of one segment. lengths: tokens of each row, shape (rows,).

    text, text_starts: the terms' bytes, end to end, and where each begins, shape (terms + 1,).
    best: the largest `saturation` among a term's rows at the average length `average`, a little rounded up.
    columns: shape (len(column_terms), rows), how often every row holds each of the commonest terms.
    """

    lengths: Ints
    text: npt.NDArray[np.uint8]
    text_starts: Ints
    starts: Ints
    rows: Ints
    counts: Ints
    best: npt.NDArray[np.float32]
    column_terms: Ints
    columns: Ints
    average: float

    def find(self, token: str) -> int:
        """The number of this term, -1 where no row holds it."""
        wanted = token.encode("utf-8", "surrogatepass")
        text, start_of = self.text.data, self.text_starts.item  # a third of the time of indexing arrays
        low, high = 0, len(self.starts) - 1
        while low < high:
            middle = (low + high) // 2
            if text[start_of(middle) : start_of(middle + 1)].tobytes() < wanted:
                low = middle + 1
            else:
                high = middle
        return low if low < len(self.starts) - 1 and self.term(low) == wanted else -1

    def term(self, number: int) -> bytes:
        """The bytes of a term."""
        return self.text[self.text_starts[number] : self.text_starts[number + 1]].tobytes()

    def terms(self) -> list[bytes]:
        """All of them, in order."""
        whole, starts = self.text.tobytes(), self.text_starts.tolist()
        return [whole[start:end] for start, end in itertools.pairwise(starts)]

    def of(self, number: int) -> tuple[Ints, Ints]:
        """Rows that hold the term, ascending, and how often each does."""
        place = slice(self.starts[number], self.starts[number + 1])
        return self.rows[place], self.counts[place]

    def column(self, number: int) -> Ints | None:
        """How often every row holds the term, for one of the commonest."""
        place = int(np.searchsorted(self.column_terms, number))
        if place < len(self.column_terms) and self.column_terms[place] == number:
            column: Ints = self.columns[place]
            return column
        return None

    def counts_in(self, number: int, rows: Ints) -> Ints:
        """How often these rows hold the term."""
        if (column := self.column(number)) is not None:
            return column[rows]
        holders, counts = self.of(number)
        if len(rows) * _LOOKED_UP_SHARE > len(holders):
            spread = np.zeros(len(self.lengths), dtype=counts.dtype)
            spread[holders] = counts
            return spread[rows]
        # A search with numbers of another type would convert all the holders first.
        places = np.searchsorted(holders, rows.astype(holders.dtype, copy=False))
        places[places == len(holders)] = 0
        return np.where(holders[places] == rows, counts[places], 0) if len(holders) else np.zeros_like(rows)


def build_postings(words: Sequence[str]) -> Postings:
    """From the tokens of each row, joined by `SEPARATOR`; "" for a row without tokens."""
    lengths = np.array([text.count(SEPARATOR) + 1 if text else 0 for text in words], dtype=np.int32)
    tokens = SEPARATOR.join(filter(None, words)).split(SEPARATOR) if lengths.any() else []
    terms = sorted(set(tokens))
    number = {term: place for place, term in enumerate(terms)}
    codes = np.fromiter(map(number.__getitem__, tokens), dtype=np.int64, count=len(tokens))
    row_count = max(1, len(words))
    keys, counts = np.unique(
        codes * row_count + np.repeat(np.arange(len(words)), lengths), return_counts=True
    )
    starts = np.searchsorted(keys, np.arange(len(terms) + 1) * row_count)
    rows = (keys % row_count).astype(np.int32)
    encoded = [term.encode() for term in terms]
    average = float(lengths.mean()) if lengths.any() else 1.0
    return assemble(encoded, starts, rows, _narrow(counts), lengths, average)


def merge_postings(
    parts: Sequence[tuple[Postings, npt.NDArray[np.bool_] | None]],
) -> Postings:
    """One in place of several, rows numbered anew. Each comes with which of its rows stay (None: all)."""
    renumbered, lengths, offset = [], [], 0
    for part, keep in parts:
        kept = part.lengths if keep is None else part.lengths[keep]
        numbers = np.arange(len(part.lengths)) if keep is None else np.cumsum(keep) - 1
        renumbered.append((numbers + offset).astype(np.int32))
        lengths.append(kept)
        offset += len(kept)
    merged_lengths = np.concatenate(lengths)
    vocabularies = [part.terms() for part, _ in parts]
    terms = sorted(set().union(*vocabularies))
    number = {term: place for place, term in enumerate(terms)}
    mapped = [np.fromiter(map(number.__getitem__, own), np.int64, len(own)) for own in vocabularies]
    sizes = np.zeros(len(terms), dtype=np.int64)
    for (part, _), places in zip(parts, mapped, strict=True):
        sizes[places] += np.diff(part.starts)
    rows_out, counts_out, sizes_out = [], [], []
    for first, last in _runs(sizes, _TERMS_AT_ONCE):
        term_of, rows, counts = [], [], []
        for (part, keep), places, numbers in zip(parts, mapped, renumbered, strict=True):
            low, high = np.searchsorted(places, [first, last])
            span = slice(part.starts[low], part.starts[high])
            old, often = part.rows[span], part.counts[span]
            owner = np.repeat(places[low:high], np.diff(part.starts[low : high + 1]))
            if keep is not None:
                stays = keep[old]
                old, often, owner = old[stays], often[stays], owner[stays]
            term_of.append(owner)
            rows.append(numbers[old])
            counts.append(often)
        owners = np.concatenate(term_of)
        order = np.argsort(owners, kind="stable")  # within a term the parts' order is the rows' order
        rows_out.append(np.concatenate(rows)[order])
        counts_out.append(np.concatenate(counts)[order])
        sizes_out.append(np.bincount(owners - first, minlength=last - first))
    final = np.concatenate(sizes_out) if sizes_out else sizes
    stays = final > 0
    starts = np.concatenate([[0], np.cumsum(final[stays])])
    return assemble(
        [term for term, stay in zip(terms, stays.tolist(), strict=True) if stay],
        starts,
        np.concatenate(rows_out) if rows_out else np.zeros(0, np.int32),
        np.concatenate(counts_out) if counts_out else np.zeros(0, np.uint8),
        merged_lengths,
        float(merged_lengths.mean()) if merged_lengths.any() else 1.0,
    )


def assemble(
    terms: Sequence[bytes], starts: Ints, rows: Ints, counts: Ints, lengths: Ints, average: float
) -> Postings:
    """Postings with what is computed from them: the bounds and the columns."""
    best = np.zeros(len(terms), dtype=np.float32)
    for first, last in _runs(np.diff(starts), _TERMS_AT_ONCE):
        span = slice(starts[first], starts[last])
        values = saturation(counts[span], lengths[rows[span]], average)
        best[first:last] = np.maximum.reduceat(values, starts[first:last] - starts[first])
    common = np.flatnonzero(np.diff(starts) * _COLUMN_SHARE > len(lengths))
    if len(lengths) < _COLUMN_ROWS:
        common = common[:0]
    columns = np.zeros((len(common), len(lengths)), dtype=counts.dtype)
    for column, term in zip(columns, common, strict=True):
        span = slice(starts[term], starts[term + 1])
        column[rows[span]] = counts[span]
    text_starts = np.concatenate([[0], np.cumsum([len(term) for term in terms])]).astype(np.int64)
    return Postings(
        lengths=lengths,
        text=np.frombuffer(b"".join(terms), dtype=np.uint8),
        text_starts=text_starts,
        starts=starts.astype(np.int64),
        rows=rows,
        counts=counts,
        best=np.nextafter(best, np.float32(np.inf)) * np.float32(1 + 1e-6),
        column_terms=common.astype(np.int64),
        columns=columns,
        average=average,
    )


_COLUMN_SHARE = 8
"""A term that more than one row in eight holds is also kept as a column."""
_COLUMN_ROWS = 8192
"""Below so many rows columns bring nothing."""


def _runs(sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges whose sizes add up to about `most` at the most, none empty of members."""
    ends = np.cumsum(sizes)
    first = 0
    while first < len(sizes):
        reached = ends[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(ends, reached + most, side="right")))
        yield first, last
        first = last


def _narrow(counts: Ints) -> Ints:
    """The smallest type that holds them: a word stands in a passage more than 255 times rarely."""
    largest = int(counts.max(initial=0))
    return counts.astype(np.min_scalar_type(largest))


def joined(tokens: Iterable[str]) -> str:
    """Tokens of one row as they are kept."""
    return SEPARATOR.join(tokens)
