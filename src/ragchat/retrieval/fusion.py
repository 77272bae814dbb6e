"""Merge rankings of different searches by rank alone, because their scores share no scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

K = 60
"""The constant of the source below: how little the very first ranks may outweigh the next ones."""


def fuse(rankings: Sequence[Sequence[int]], k: int = K) -> list[int]:
    """Reciprocal rank fusion: ids by descending sum of 1 / (k + rank), rank counted from 1 in each ranking.

    An id counts once in a ranking, at its best place. Equal sums are ordered by the best rank anywhere, then
    by id, so that the order depends on nothing but the ranks (not on the order of the rankings either).
    Source: Cormack, Clarke, Büttcher 2009, SIGIR, p. 758.

    Raises ValueError when k is negative.
    """
    if k < 0:
        raise ValueError(f"k must not be negative, got {k}")
    ranks: dict[int, list[int]] = {}
    for ranking in rankings:
        for rank, chunk_id in enumerate(dict.fromkeys(ranking), start=1):
            ranks.setdefault(chunk_id, []).append(rank)

    def place(chunk_id: int) -> tuple[float, int, int]:
        # fsum is exact, so the same ranks in another order give the same sum, bit for bit.
        score = math.fsum(1.0 / (k + rank) for rank in ranks[chunk_id])
        return -score, min(ranks[chunk_id]), chunk_id

    return sorted(ranks, key=place)
