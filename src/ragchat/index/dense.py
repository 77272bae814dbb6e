"""The nearest vectors by exact cosine, over several segments.

A first pass ranks roughly, in float32 or in bytes, and its rounding is bounded: every row that could still
belong to the best `limit` is computed again in float64, so that the result is that of a scan in float64, ties
in the order of names and places (`ranking.py`).

The bound for bytes: with x ≈ x̂ and q ≈ q̂, |⟨x, q⟩ - ⟨x̂, q̂⟩| ≤ ‖x - x̂‖ + (1 + ‖x - x̂‖) · ‖q - q̂‖ for unit
vectors (Cauchy-Schwarz). For float32: d · 2⁻²³ for d products of a unit length in all (Higham 2002, 3.1).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from ragchat.embedding.embedder import Int8Matrix, Matrix, Vector
from ragchat.index.ranking import Best, DocumentOrder, as_numbered
from ragchat.index.segment import Mask, Part, Quantized, Segment, quantize

UNIT_SLACK = 2e-3
"""Rows may be of length 1 ± 0.001 (`are_unit`), and so may the question."""

_BLOCK_ROWS = 8192
_BATCH_ROWS = 4096
"""Scores of all questions with so many rows are held at once."""
_ROWS_A_THREAD = 98_304
"""With less for each, the second core is better left to the search by words, which runs beside this one."""

Rows = npt.NDArray[np.int64]
Cosines = npt.NDArray[np.float64]
Scores = npt.NDArray[np.floating[Any]]


def nearest_rows(
    parts: Sequence[Part],
    question: Vector,
    limit: int,
    masks: Sequence[Mask | None],
    document_order: DocumentOrder = as_numbered,
) -> list[tuple[float, int]]:
    """(cosine, chunk id) of the `limit` nearest rows that the masks admit, best first."""
    if limit <= 0:
        return []
    best = Best(limit)
    for part, mask in sorted(zip(parts, masks, strict=True), key=lambda pair: -len(pair[0].segment)):
        if len(part.segment):
            rows, cosines = _candidates(part.segment, question, limit, mask, best.floor)
            best.add(cosines, part.segment.ids[rows], part.segment.documents[rows])
    return best.in_order(document_order)


def nearest_rows_of_each(
    parts: Sequence[Part], questions: Matrix, limit: int, document_order: DocumentOrder = as_numbered
) -> list[list[tuple[float, int]]]:
    """`nearest_rows` of every question (row), for hardly more than the product of all with all vectors."""
    if limit <= 0:
        return [[] for _ in questions]
    slack = 2 * questions.shape[1] * 2.0**-23 * (1 + UNIT_SLACK)
    best = [Best(limit) for _ in questions]
    floors = np.full(len(questions), -np.inf, dtype=np.float32)
    for part in parts:
        for start in range(0, len(part.segment), _BATCH_ROWS):
            block = slice(start, start + _BATCH_ROWS)
            scores = questions @ part.segment.vectors[block].T
            if part.mask is not None:
                np.copyto(scores, -np.inf, where=~part.mask[block])
            for at in np.flatnonzero(scores.max(axis=1, initial=-np.inf) >= floors):
                places = places_of_best(scores[at], limit, slack, floors[at])
                rows = places[scores[at][places] > -np.inf] + start
                cosines = exact_cosines(part.segment.vectors[rows], questions[at])
                best[at].add(cosines, part.segment.ids[rows], part.segment.documents[rows])
                floors[at] = best[at].floor - slack
    return [each.in_order(document_order) for each in best]


def exact_cosines(vectors: Matrix, question: Vector) -> Cosines:
    """⟨x, q⟩ of each row in float64: equal rows give equal values wherever they stand."""
    wide = question.astype(np.float64)
    result = np.empty(len(vectors), dtype=np.float64)
    for start in range(0, len(vectors), _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        result[block] = (vectors[block].astype(np.float64) * wide).sum(axis=1)
    return result


def places_of_best(values: Scores, limit: int, slack: float = 0.0, floor: float = -np.inf) -> Rows:
    """Places that hold the `limit` largest values, and every other within `slack` of the least of them.

    It may name more, never fewer. floor: what is below it is of no interest.
    """
    if limit < len(values):
        places: Rows = np.flatnonzero(values >= max(floor, _lower_bound(values, limit) - slack))
    else:
        places = np.flatnonzero(values >= floor)
    if limit < len(places):
        kept = values[places]
        places = places[kept >= np.partition(kept, -limit)[-limit] - slack]
    return places


def _lower_bound(values: Scores, limit: int) -> float:
    """A value that at least `limit` others reach: the limit-th largest among the maxima of blocks."""
    width = len(values) // (32 * limit)
    if width < 8:
        return float(np.partition(values, -limit)[-limit])
    whole = len(values) // width * width
    maxima = values[:whole].reshape(-1, width).max(axis=1)
    return float(np.partition(maxima, -limit)[-limit])


def _candidates(
    segment: Segment, question: Vector, limit: int, mask: Mask | None, floor: float
) -> tuple[Rows, Cosines]:
    scan = _byte_scan() if segment.quantized is not None else None
    if scan is not None and segment.quantized is not None:
        found = _by_bytes(segment, segment.quantized, scan, question, limit, mask, floor)
        if found is not None:
            return found
    scores = segment.vectors @ question
    if mask is not None:
        np.copyto(scores, -np.inf, where=~mask)
    slack = 2 * len(question) * 2.0**-23 * (1 + UNIT_SLACK)
    rows = places_of_best(scores, limit, slack, floor - slack)
    rows = rows[scores[rows] > -np.inf]
    return rows, exact_cosines(segment.vectors[rows], question)


def _by_bytes(
    segment: Segment,
    quantized: Quantized,
    scan: Callable[[Int8Matrix, Int8Matrix], Scores],
    question: Vector,
    limit: int,
    mask: Mask | None,
    floor: float,
) -> tuple[Rows, Cosines] | None:
    """None where so many rows lie within the rounding that scanning all of them is cheaper."""
    scale = max(float(np.abs(question).max()), 1e-30) / 127
    codes = quantize(question[np.newaxis], scale)
    off = float(np.linalg.norm(question.astype(np.float64) - codes[0] * scale))
    error = (quantized.error + (1 + quantized.error) * off) * (1 + UNIT_SLACK) + 1e-6
    unit = quantized.scale * scale
    scores = scan(quantized.codes, codes)
    if mask is not None:
        np.copyto(scores, -np.inf, where=~mask)
    # What lies below the least exact cosine of the best by bytes, by more than the error, cannot win.
    first = places_of_best(scores, limit)
    if len(first) > limit:
        first = first[np.argsort(-scores[first], kind="stable")[:limit]]
    first = first[scores[first] > -np.inf]
    if len(first) == limit:
        floor = max(floor, float(exact_cosines(segment.vectors[first], question).min()))
    rows = np.flatnonzero(scores >= (floor - error) / unit)
    rows = rows[scores[rows] > -np.inf]
    if len(rows) > max(4 * limit, len(segment) // 16):
        return None
    return rows, exact_cosines(segment.vectors[rows], question)


@functools.cache
def _byte_scan() -> Callable[[Int8Matrix, Int8Matrix], Scores] | None:
    """Products of all rows of codes with one; None without numkong: numpy alone is slower in bytes."""
    try:
        import numkong
    except ImportError:
        return None

    def one(codes: Int8Matrix, question: Int8Matrix) -> Scores:
        scores: Scores = np.asarray(numkong.cdist(question, codes, "dot", out_dtype="float32"))[0]
        return scores

    def scan(codes: Int8Matrix, question: Int8Matrix) -> Scores:
        threads = min(_threads(), len(codes) // _ROWS_A_THREAD)
        if threads < 2:
            return one(codes, question)
        step = -(-len(codes) // threads)
        blocks = [codes[start : start + step] for start in range(0, len(codes), step)]
        return np.concatenate(list(_pool().map(lambda block: one(block, question), blocks)))

    return scan


@functools.cache
def _threads() -> int:
    """Asking the system takes a quarter of a millisecond."""
    return min(4, os.cpu_count() or 1)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_threads(), thread_name_prefix="scan")
