"""Some chunks with all that search needs of them: ids, vectors, words and token vectors, as arrays.

A segment never changes. It lies in a file and is mapped, or, for what changed last, is held in memory; which
of its rows can still be found is told by a mask beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragchat.embedding.embedder import Int8Matrix, Matrix
from ragchat.index.postings import Postings, build_postings, merge_postings
from ragchat.index.segment_file import Array, SegmentWriter, Written, read_segment_file

QUANTIZED_ROWS = 8_192
"""Segments of so many rows get a copy of their vectors in bytes; smaller ones are scanned as fast without."""

_BLOCK_ROWS = 4096
_BLOCK_TOKENS = 1 << 16
_POSTINGS_ARRAYS = [field.name for field in fields(Postings) if field.name != "average"]

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Quantized:
    """vectors ≈ scale · codes. error: the largest length of a row's difference."""

    codes: Int8Matrix
    scale: float
    error: float


@dataclass(frozen=True, slots=True)
class TokenRows:
    """Token vectors of all rows, end to end: row i owns data[starts[i]:starts[i + 1]]."""

    starts: npt.NDArray[np.int64]
    data: Int8Matrix

    def of(self, row: int) -> Int8Matrix:
        """Those of one row, shape (tokens, dimensions)."""
        return self.data[self.starts[row] : self.starts[row + 1]]


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows in ascending order of chunk id; a document's chunks stand together.

    ids, documents: of the chunks and their documents, shape (rows,). vectors: unit rows, shape (rows, dims).
    """

    ids: npt.NDArray[np.int64]
    documents: npt.NDArray[np.int64]
    vectors: Matrix
    postings: Postings
    quantized: Quantized | None = None
    tokens: TokenRows | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def rows_of(self, chunk_ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The row of each chunk, -1 for one that is elsewhere."""
        if not len(self.ids):
            return np.full(len(chunk_ids), -1, dtype=np.int64)
        rows: npt.NDArray[np.int64] = np.searchsorted(self.ids, chunk_ids)
        rows[rows == len(self.ids)] = 0
        return np.where(self.ids[rows] == chunk_ids, rows, -1)


@dataclass(frozen=True, slots=True)
class Part:
    """A segment and which of its rows can be found; None: all."""

    segment: Segment
    mask: Mask | None = None

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Of the rows that can be found, ascending."""
        return _kept(self.segment.ids, self.mask)

    @property
    def live(self) -> int:
        """How many rows can be found."""
        return len(self.segment) if self.mask is None else int(np.count_nonzero(self.mask))


def segment_in_memory(
    ids: Sequence[int], documents: Sequence[int], vectors: Matrix, words: Sequence[str]
) -> Segment:
    """A small segment of what changed last; its token vectors stay where they are."""
    return Segment(
        np.array(ids, dtype=np.int64),
        np.array(documents, dtype=np.int64),
        vectors,
        build_postings(words),
    )


def write_segment(path: Path, parts: Sequence[Part]) -> Written:
    """One file of all rows that can be found, in the order of the parts, which is that of their ids.

    Raises StorageFailed.
    """
    dimensions = parts[0].segment.vectors.shape[1]
    postings = merge_postings([(part.segment.postings, part.mask) for part in parts])
    facts = {"average": postings.average}
    with SegmentWriter(path) as writer:
        writer.add("ids", np.concatenate([part.ids for part in parts]))
        writer.add("documents", np.concatenate([_kept(part.segment.documents, part.mask) for part in parts]))
        writer.add_blocks("vectors", np.float32, (dimensions,), _vector_blocks(parts))
        for name in _POSTINGS_ARRAYS:
            writer.add(name, getattr(postings, name))
        if len(postings.lengths) >= QUANTIZED_ROWS:
            facts["scale"] = max(float(np.abs(block).max()) for block in _vector_blocks(parts)) / 127
            writer.add_blocks(
                "codes", np.int8, (dimensions,), (quantize(b, facts["scale"]) for b in _vector_blocks(parts))
            )
            facts["error"] = max(rounding_error(b, facts["scale"]) for b in _vector_blocks(parts))
        if any(part.segment.tokens is not None for part in parts):
            _write_tokens(writer, parts)
        return writer.finish(facts)


def read_segment(path: Path, size: int) -> Segment:
    """Map a file that `write_segment` wrote. Raises FileNotFoundError, IndexCorrupt, StorageFailed."""
    arrays, facts = read_segment_file(path, size)
    return _from_arrays(path, arrays, facts)


def quantize(vectors: Matrix, scale: float) -> Int8Matrix:
    """The nearest codes, so that scale · codes ≈ vectors."""
    codes: Int8Matrix = np.rint(vectors / scale).clip(-127, 127).astype(np.int8)
    return codes


def rounding_error(vectors: Matrix, scale: float) -> float:
    """The largest length of the difference between a row and its codes, never told too small."""
    difference = vectors.astype(np.float64) - quantize(vectors, scale) * scale
    return float(np.sqrt((difference**2).sum(axis=1).max(initial=0.0))) * (1 + 1e-9)


def _from_arrays(path: Path, arrays: Mapping[str, Array], facts: Mapping[str, float]) -> Segment:
    from ragchat.errors import IndexCorrupt

    try:
        postings = Postings(average=facts["average"], **{name: arrays[name] for name in _POSTINGS_ARRAYS})
        quantized = tokens = None
        if "codes" in arrays:
            quantized = Quantized(arrays["codes"], facts["scale"], facts["error"])
        if "token_starts" in arrays:
            tokens = TokenRows(arrays["token_starts"], arrays["token_data"])
        return Segment(arrays["ids"], arrays["documents"], arrays["vectors"], postings, quantized, tokens)
    except KeyError as error:
        raise IndexCorrupt(
            f"the index {path} is damaged: it lacks {error}", hint="ragchat index --rebuild"
        ) from error


def _kept(rows: Array, mask: Mask | None) -> Array:
    return rows if mask is None else rows[mask]


def _vector_blocks(parts: Sequence[Part]) -> Iterator[Matrix]:
    for part in parts:
        for start in range(0, len(part.segment), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            kept = _kept(part.segment.vectors[block], None if part.mask is None else part.mask[block])
            if len(kept):
                yield kept


def _write_tokens(writer: SegmentWriter, parts: Sequence[Part]) -> None:
    """A row of a part that has none gets an empty matrix."""
    counts = [
        _kept(
            np.diff(tokens.starts) if (tokens := part.segment.tokens) else np.zeros(len(part.segment)),
            part.mask,
        )
        for part in parts
    ]
    width = max(tokens.data.shape[1] for part in parts if (tokens := part.segment.tokens))
    writer.add("token_starts", np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64))
    writer.add_blocks("token_data", np.int8, (width,), _token_blocks(parts))


def _token_blocks(parts: Sequence[Part]) -> Iterator[Int8Matrix]:
    for part in parts:
        if (tokens := part.segment.tokens) is None:
            continue
        keep = np.ones(len(part.segment), dtype=np.bool_) if part.mask is None else part.mask
        edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]])))
        for first, last in edges.reshape(-1, 2):
            begin, end = tokens.starts[first], tokens.starts[last]
            for start in range(begin, end, _BLOCK_TOKENS):
                yield tokens.data[start : min(end, start + _BLOCK_TOKENS)]
