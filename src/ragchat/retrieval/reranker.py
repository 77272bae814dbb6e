"""The seam for a model that reads question and passage together, in place of late interaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ragchat.chunking.chunk import Chunk


class Reranker(Protocol):
    """Scores the best candidates anew; the gate still judges by distance.

    Safe to call from several threads.
    """

    def scores(self, question: str, chunks: Sequence[Chunk]) -> Sequence[float]:
        """One score a chunk, higher for better; the scale is its own."""
