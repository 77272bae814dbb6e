"""Merge rankings of different searches by rank alone, because their scores share no scale."""

from __future__ import annotations

import math
from collections.abc import Sequence

K = 60
"""The constant of the source below: how little the very first ranks may outweigh the next ones."""


def fuse(rankings: Sequence[Sequence[int]], k: int = K) -> list[int]:
    """Reciprocal rank fusion: ids by descending sum of 1 / (k + rank), rank counted from 1 in each ranking.

    An id counts once in a ranking, at its best place. Equal sums are ordered by the best rank anywhere, then
    by the ranks in the rankings as they are given: what an id is does not matter, only where it stands.
    Source: Cormack, Clarke, Büttcher 2009, SIGIR, p. 758.

    Raises ValueError when k is negative.
    """
    if k < 0:
        raise ValueError(f"k must not be negative, got {k}")
    absent = [math.inf] * len(rankings)
    ranks: dict[int, list[float]] = {}
    for place, ranking in enumerate(rankings):
        for rank, chunk_id in enumerate(dict.fromkeys(ranking), start=1):
            ranks.setdefault(chunk_id, absent.copy())[place] = rank

    def order(chunk_id: int) -> tuple[float, float, list[float]]:
        found = ranks[chunk_id]
        # fsum is exact, so the same ranks in another order give the same sum, bit for bit.
        return -math.fsum(1.0 / (k + rank) for rank in found), min(found), found

    return sorted(ranks, key=order)
