"""An index in memory, so that retrieval is tested without storage."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.embedding.embedder import Embedder, Int8Matrix, Matrix, Vector
from ragchat.errors import IndexMissing
from ragchat.index.protocol import Coverage, Hit, IndexStamp, Scope
from ragchat.index.source import Source
from ragchat.index.tokens import tokenize


def passage(
    content: str,
    document: str = "note.md",
    *,
    start: int = 0,
    title: str = "",
    section: tuple[str, ...] = (),
) -> Chunk:
    header = " > ".join(part for part in (title, *section) if part)
    return Chunk(
        document=document,
        title=title,
        section=section,
        start=start,
        end=start + len(content),
        first_line=1,
        last_line=1 + content.count("\n"),
        content=content,
        text=f"[{header}]\n{content}" if header else content,
        context_start=start,
        tokens=len(content.split()) + 2,
        header_tokens=0,
    )


class MemorySnapshot:
    """Chunk ids are 10, 20, 30, … in the order given: an id is no position."""

    def __init__(self, chunks: Sequence[Chunk], embedder: Embedder, vectors: Matrix | None = None) -> None:
        self.stamp = IndexStamp(embedder.stamp, "test")
        self.coverage = Coverage(len({chunk.document for chunk in chunks}), 0, 0)
        self.chunk_count = len(chunks)
        self.ids = [10 * (row + 1) for row in range(len(chunks))]
        self._chunks = dict(zip(self.ids, chunks, strict=True))
        embedded, tokens = embedder.embed_passages_with_tokens([chunk.text for chunk in chunks])
        matrix = embedded if vectors is None else vectors
        self._token_vectors = {chunk_id: tokens.rows(row) for row, chunk_id in enumerate(self.ids)}
        self._has_tokens = embedder.token_dimensions > 0
        self._vectors = dict(zip(self.ids, matrix, strict=True))
        self._tokens = {chunk_id: Counter(tokenize(chunk.text)) for chunk_id, chunk in self._chunks.items()}

        self._holders: dict[str, list[int]] = {}
        for chunk_id, counts in self._tokens.items():
            for token in counts:
                self._holders.setdefault(token, []).append(chunk_id)
        self._frequency = Counter(token for counts in self._tokens.values() for token in counts)
        self._average = sum(counts.total() for counts in self._tokens.values()) / max(1, len(chunks))

    def _within(self, scope: Scope) -> list[int]:
        return [chunk_id for chunk_id in self.ids if scope.admits(self._chunks[chunk_id].document)]

    def sources(self) -> Mapping[str, Source]:
        names = dict.fromkeys(chunk.document for chunk in self._chunks.values())
        return {name: Source(name, 1, 1, "d", "test", "indexed") for name in names}

    @property
    def approximate(self) -> bool:
        return False

    def dense(self, question: Vector, limit: int, scope: Scope, *, exact: bool = False) -> list[Hit]:
        hits = [
            Hit(chunk_id, 1.0 - float(self._vectors[chunk_id] @ question)) for chunk_id in self._within(scope)
        ]
        return sorted(hits, key=lambda hit: (hit.value, hit.chunk_id))[:limit]

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        holding = {chunk_id for token in tokens for chunk_id in self._holders.get(token, ())}
        hits = [
            Hit(chunk_id, self._bm25(tokens, chunk_id))
            for chunk_id in holding
            if scope.admits(self._chunks[chunk_id].document)
        ]
        return sorted(hits, key=lambda hit: (-hit.value, hit.chunk_id))[:limit]

    def _bm25(self, tokens: Sequence[str], chunk_id: int) -> float:
        counts = self._tokens[chunk_id]
        norm = 1.2 * (0.25 + 0.75 * counts.total() / self._average)
        score = 0.0
        for token in tokens:
            holding = self.document_frequency(token)
            idf = math.log(1 + (self.chunk_count - holding + 0.5) / (holding + 0.5))
            score += idf * counts[token] * 2.2 / (counts[token] + norm)
        return score

    def containing(self, token: str, scope: Scope, limit: int) -> list[int]:
        return [chunk_id for chunk_id in self._within(scope) if self._tokens[chunk_id][token]][:limit]

    def document_frequency(self, token: str) -> int:
        return self._frequency[token]

    def chunks(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        return [self._chunks[chunk_id] for chunk_id in chunk_ids]

    def neighbours(self, chunk_ids: Sequence[int]) -> list[tuple[Chunk | None, Chunk | None]]:
        return [(self._beside(chunk_id, -1), self._beside(chunk_id, 1)) for chunk_id in chunk_ids]

    def _beside(self, chunk_id: int, step: int) -> Chunk | None:
        here = self._chunks[chunk_id]
        section = [
            chunk
            for chunk in self._chunks.values()
            if (chunk.document, chunk.section) == (here.document, here.section)
        ]
        section.sort(key=lambda chunk: chunk.start)
        at = section.index(here) + step
        return section[at] if 0 <= at < len(section) else None

    def vectors(self, chunk_ids: Sequence[int]) -> Matrix:
        return np.stack([self._vectors[chunk_id] for chunk_id in chunk_ids])

    def token_vectors(self, chunk_ids: Sequence[int]) -> Sequence[Int8Matrix] | None:
        return [self._token_vectors[chunk_id] for chunk_id in chunk_ids] if self._has_tokens else None

    def dense_of_each(self, questions: Matrix, limit: int) -> list[list[Hit]]:
        return [self.dense(question, limit, Scope()) for question in questions]


class MemoryIndex:
    """As much of an index as a threshold needs: a stamp, a snapshot, small values."""

    def __init__(self, snapshot: MemorySnapshot | None = None) -> None:
        self.values: dict[str, str] = {}
        self.current = snapshot

    @property
    def stamp(self) -> IndexStamp | None:
        return self.current.stamp if self.current else None

    def snapshot(self) -> MemorySnapshot:
        if self.current is None:
            raise IndexMissing("not indexed yet", hint="ragchat index")
        return self.current

    def chunk_count(self) -> int:
        return self.current.chunk_count if self.current else 0

    def generation(self) -> int:
        return id(self.current)

    def read_value(self, key: str) -> str | None:
        return self.values.get(key)

    def write_value(self, key: str, value: str) -> None:
        self.values[key] = value

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"a threshold has no business with Index.{name}")
