"""One state of the index as it is searched: its segments, which of their rows can be found, and what follows.

A view is made once for each state and shared by every snapshot of it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ragchat.embedding.embedder import Matrix, Vector
from ragchat.errors import IndexCorrupt
from ragchat.index.dense import nearest_rows, nearest_rows_of_each
from ragchat.index.lexical import Lexical
from ragchat.index.protocol import Coverage, Hit, IndexStamp
from ragchat.index.ranking import DocumentOrder, Ids
from ragchat.index.segment import Mask, Part, Segment

UNIT_TOLERANCE = 1e-3
"""How far a vector's length may be from 1: float32 arithmetic stays far below, damage does not."""


def are_unit(vectors: Matrix) -> bool:
    """Whether every row is finite and of length 1."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return bool(np.all(np.abs(lengths - 1) <= UNIT_TOLERANCE))  # NaN compares false


def mask_without(segment: Segment, dead: Ids) -> Mask | None:
    """Rows outside all of the ranges [first, last] of chunk ids, shape (ranges, 2); None where all are."""
    first, last = dead[:, 0], dead[:, 1]
    if not len(segment) or not len(dead):
        return None
    starts = np.searchsorted(segment.ids, first)
    ends = np.searchsorted(segment.ids, last, side="right")
    if (starts == ends).all():
        return None
    depth = np.zeros(len(segment) + 1, dtype=np.int32)
    np.add.at(depth, starts, 1)
    np.add.at(depth, ends, -1)
    mask: Mask = np.cumsum(depth[:-1]) == 0
    return mask


class View:
    """parts: in ascending order of chunk id. Safe to use from several threads."""

    def __init__(
        self, generation: int, stamp_id: int, stamp: IndexStamp, coverage: Coverage, parts: Sequence[Part]
    ) -> None:
        self.generation = generation
        self.stamp_id = stamp_id
        self.stamp = stamp
        self.coverage = coverage
        self.parts = parts

    @functools.cached_property
    def words(self) -> Lexical:
        """What BM25 needs, made when first asked for: questions by meaning alone need none."""
        return Lexical(self.parts)

    @functools.cached_property
    def chunk_count(self) -> int:
        """How many chunks can be found."""
        return sum(part.live for part in self.parts)

    def masks(self, documents: Ids | None) -> list[Mask | None]:
        """Rows of each segment that can be found, of these documents alone unless None."""
        if documents is None:
            return [part.mask for part in self.parts]
        masks: list[Mask | None] = []
        for part in self.parts:
            mask = np.isin(part.segment.documents, documents, kind="table" if len(documents) else None)
            masks.append(mask if part.mask is None else mask & part.mask)
        return masks

    def dense(
        self, question: Vector, limit: int, documents: Ids | None, document_order: DocumentOrder
    ) -> list[Hit]:
        """Nearest chunks by exact cosine distance, ascending."""
        found = nearest_rows(self.parts, question, limit, self.masks(documents), document_order)
        return _as_distances(found)

    def dense_of_each(self, questions: Matrix, limit: int, document_order: DocumentOrder) -> list[list[Hit]]:
        """`dense` of each question (row), everywhere."""
        found = nearest_rows_of_each(self.parts, questions, limit, document_order)
        return [_as_distances(each) for each in found]

    def lexical(
        self, tokens: Sequence[str], limit: int, documents: Ids | None, document_order: DocumentOrder
    ) -> list[Hit]:
        """Best chunks by BM25, descending; never one with score 0."""
        found = self.words.best(tokens, limit, self.masks(documents), document_order)
        return [Hit(chunk_id, score) for score, chunk_id in found]

    def containing(
        self, token: str, limit: int, documents: Ids | None, document_order: DocumentOrder
    ) -> list[int]:
        """Ids of chunks that hold the token."""
        ids, owners = self.words.holding(token, self.masks(documents))
        order = np.lexsort((ids, document_order(owners)))
        chunk_ids: list[int] = ids[order][:limit].tolist()
        return chunk_ids

    def places(self, chunk_ids: Sequence[int]) -> list[tuple[Segment, int]]:
        """Segment and row of each chunk. Raises KeyError for one that cannot be found."""
        wanted = np.array(chunk_ids, dtype=np.int64)
        places: list[tuple[Segment, int] | None] = [None] * len(wanted)
        for part in self.parts:
            for place, row in enumerate(part.segment.rows_of(wanted).tolist()):
                if row >= 0 and (part.mask is None or part.mask[row]):
                    places[place] = (part.segment, row)
        found = [place for place in places if place is not None]
        if len(found) != len(places):
            raise KeyError(f"no chunk {chunk_ids[places.index(None)]} in this snapshot")
        return found

    def vectors(self, chunk_ids: Sequence[int]) -> Matrix:
        """Their unit vectors, shape (len(chunk_ids), dimensions). Raises KeyError, IndexCorrupt."""
        wanted = np.array(chunk_ids, dtype=np.int64)
        vectors = np.empty((len(wanted), self.stamp.embedder.dimensions), dtype=np.float32)
        missing = np.ones(len(wanted), dtype=np.bool_)
        for part in self.parts:
            rows = part.segment.rows_of(wanted)
            here = rows >= 0 if part.mask is None else (rows >= 0) & part.mask[rows]
            vectors[here] = part.segment.vectors[rows[here]]
            missing &= ~here
        if missing.any():
            raise KeyError(f"no chunk {wanted[missing][0]} in this snapshot")
        if not are_unit(vectors):
            raise IndexCorrupt(
                "the index holds vectors that are not of unit length", hint="ragchat index --rebuild"
            )
        return vectors


def _as_distances(found: Sequence[tuple[float, int]]) -> list[Hit]:
    return [Hit(chunk_id, min(max(1.0 - cosine, 0.0), 2.0)) for cosine, chunk_id in found]
