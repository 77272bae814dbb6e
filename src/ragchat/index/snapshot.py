"""One state of the index in memory: exact cosine search, BM25, and the chunks themselves.

Everything is loaded as of one transaction, so that a question never sees a document half old and half new.
"""

from __future__ import annotations

import functools
import json
import threading
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ragchat.chunking.chunk import Chunk
from ragchat.embedding.embedder import Matrix, Vector
from ragchat.errors import IndexCorrupt
from ragchat.index.lexical import Lexical
from ragchat.index.protocol import Coverage, Hit, IndexStamp, Scope
from ragchat.index.tokens import tokenize

UNIT_TOLERANCE = 1e-3
"""How far a vector's length may be from 1: float32 arithmetic stays far below, damage does not."""

_BLOCK_ROWS = 8192
_TEXTS_KEPT = 64

Rows = npt.NDArray[np.int64]


class StoredDocument(NamedTuple):
    """A document as the index keeps it; packed is its compressed canonical text."""

    name: str
    title: str
    packed: bytes


class StoredChunk(NamedTuple):
    """A chunk as the index keeps it: what it quotes is cut from the document's text."""

    id: int
    document_id: int
    section: str
    start: int
    end: int
    first_line: int
    last_line: int
    context_start: int
    tokens: int
    header_tokens: int
    locator: str
    text: str


def pack_text(text: str) -> bytes:
    """Compress a document's text for keeping."""
    return zlib.compress(text.encode())


def unpack_text(packed: bytes) -> str:
    """The text that was packed, exactly. Raises IndexCorrupt."""
    try:
        return zlib.decompress(packed).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise IndexCorrupt(
            f"a document's text in the index is damaged: {error}", hint="ragchat index --rebuild"
        ) from error


def are_unit(vectors: Matrix) -> bool:
    """Whether every row is finite and of length 1."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return bool(np.all(np.abs(lengths - 1) <= UNIT_TOLERANCE))  # NaN compares false


class MemorySnapshot:
    """Implements `Snapshot`. Safe to use from several threads.

    vectors: shape (len(chunks), dimensions), rows as `chunks`, which are in ascending order of id.
    known_tokens: tokens of chunks that an earlier snapshot has cut already, by chunk id.
    """

    def __init__(
        self,
        stamp: IndexStamp,
        coverage: Coverage,
        documents: Mapping[int, StoredDocument],
        chunks: Sequence[StoredChunk],
        vectors: Matrix,
        known_tokens: Mapping[int, list[str]],
    ) -> None:
        if not are_unit(vectors):
            raise IndexCorrupt(
                "the index holds vectors that are not of unit length", hint="ragchat index --rebuild"
            )
        self.stamp = stamp
        self.coverage = coverage
        self.tokens_of_chunks = known_tokens
        self._documents = documents
        self._chunks = chunks
        self._vectors = vectors
        self._ids: Rows = np.array([chunk.id for chunk in chunks], dtype=np.int64)
        self._documents_of_rows: Rows = np.array([chunk.document_id for chunk in chunks], dtype=np.int64)
        self._text = functools.lru_cache(_TEXTS_KEPT)(
            lambda document_id: unpack_text(self._documents[document_id].packed)
        )
        self._lexical: Lexical | None = None
        self._building = threading.Lock()

    @property
    def chunk_count(self) -> int:
        """How many chunks can be found."""
        return len(self._chunks)

    def dense(self, question: Vector, limit: int, scope: Scope) -> list[Hit]:
        """Nearest chunks by exact cosine distance, ascending; ties by chunk id."""
        self._check(question[np.newaxis])
        rows = self._rows_in(scope)
        distances = np.clip(1 - self._vectors @ question, 0, 2)[rows]
        return [
            Hit(int(self._ids[rows[place]]), float(distances[place])) for place in _smallest(distances, limit)
        ]

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        """Best chunks by BM25, descending; ties by chunk id; never one with score 0."""
        scores = self._lexical_index().get_scores(tokens)
        rows = self._rows_in(scope)
        rows = rows[scores[rows] > 0]
        return [
            Hit(int(self._ids[rows[place]]), float(scores[rows[place]]))
            for place in _smallest(-scores[rows], limit)
        ]

    def containing(self, token: str, scope: Scope, limit: int) -> list[int]:
        """Ids of the chunks that hold this token, ascending."""
        rows = self._lexical_index().rows(token)
        rows = rows[np.isin(rows, self._rows_in(scope))][:limit]
        return [int(chunk_id) for chunk_id in self._ids[rows]]

    def document_frequency(self, token: str) -> int:
        """In how many chunks the token stands."""
        return self._lexical_index().document_frequency(token)

    def chunks(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        """The chunks, in the order asked for. Raises KeyError for an id that is not in this snapshot."""
        return [self._chunk(self._chunks[row]) for row in self._rows_of(chunk_ids)]

    def vectors(self, chunk_ids: Sequence[int]) -> Matrix:
        """Their unit vectors, shape (len(chunk_ids), dimensions). Raises KeyError as `chunks` does."""
        rows: Matrix = self._vectors[self._rows_of(chunk_ids)]
        return rows

    def nearest(self, questions: Matrix) -> Vector:
        """For each question (rows) the distance of its nearest chunk; infinite where there is no chunk."""
        self._check(questions)
        best = np.full(len(questions), -np.inf, dtype=np.float32)
        for start in range(0, len(self._vectors), _BLOCK_ROWS):
            cosines = questions @ self._vectors[start : start + _BLOCK_ROWS].T
            np.maximum(best, cosines.max(axis=1), out=best)
        distances: Vector = np.maximum(1 - best, 0)
        return distances

    def _check(self, questions: Matrix) -> None:
        if questions.shape[1] != self.stamp.embedder.dimensions:
            raise ValueError(
                f"a question of {questions.shape[1]} dimensions cannot be compared with this index "
                f"({self.stamp.embedder.dimensions})"
            )

    def _rows_in(self, scope: Scope) -> Rows:
        if not scope.prefix and scope.documents is None:
            return np.arange(len(self._chunks))
        admitted = [key for key, document in self._documents.items() if scope.admits(document.name)]
        return np.flatnonzero(np.isin(self._documents_of_rows, np.array(admitted, dtype=np.int64)))

    def _rows_of(self, chunk_ids: Sequence[int]) -> Rows:
        wanted: Rows = np.array(chunk_ids, dtype=np.int64)
        rows: Rows = np.searchsorted(self._ids, wanted)
        found = rows < len(self._ids)
        found[found] = self._ids[rows[found]] == wanted[found]
        if not found.all():
            raise KeyError(f"no chunk {wanted[~found][0]} in this snapshot")
        return rows

    def _chunk(self, stored: StoredChunk) -> Chunk:
        document = self._documents[stored.document_id]
        text = self._text(stored.document_id)
        return Chunk(
            document=document.name,
            title=document.title,
            section=tuple(json.loads(stored.section)),
            start=stored.start,
            end=stored.end,
            first_line=stored.first_line,
            last_line=stored.last_line,
            content=text[stored.start : stored.end],
            text=stored.text,
            context_start=stored.context_start,
            tokens=stored.tokens,
            header_tokens=stored.header_tokens,
            locator=stored.locator,
            lead=text[stored.context_start : stored.start],
        )

    def _lexical_index(self) -> Lexical:
        """Built when first asked for: questions by meaning alone need none."""
        with self._building:
            if self._lexical is None:
                known = self.tokens_of_chunks
                tokens = [known.get(chunk.id) or tokenize(chunk.text) for chunk in self._chunks]
                self.tokens_of_chunks = {
                    chunk.id: row for chunk, row in zip(self._chunks, tokens, strict=True)
                }
                self._lexical = Lexical(tokens)
            return self._lexical


def _smallest(values: npt.NDArray[np.floating], limit: int) -> Rows:
    """Places of the smallest values, ascending; equal ones in the order of their places."""
    if limit <= 0 or not len(values):
        return np.zeros(0, dtype=np.int64)
    places = np.arange(len(values))
    if limit < len(values):
        places = np.flatnonzero(values <= np.partition(values, limit - 1)[limit - 1])
    order: Rows = places[np.argsort(values[places], kind="stable")][:limit]
    return order
