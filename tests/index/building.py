"""What the tests of this room build with: documents, chunks, folders, indexers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document
from ragchat.embedding.embedder import Embedder, EmbedderStamp, Matrix, TokenVectors
from ragchat.index.indexer import Indexer
from ragchat.index.protocol import Index, IndexStamp, Scope
from ragchat.index.source import Source
from ragchat.index.store import SqliteIndex
from ragchat.settings import NotesSettings
from tests.doubles import WordEmbedder

EMBEDDER = WordEmbedder(dimensions=32)
STAMP = IndexStamp(EMBEDDER.stamp, "test/1")


def document(name: str, text: str, *, title: str = "T") -> Document:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Document(name, title, text, "utf-8", (), (), (), (), (), "test/1", digest)


def source(name: str, text: str = "", *, state: str = "indexed") -> Source:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Source(name, len(text), 1, digest, "test/1", state, 2)  # type: ignore[arg-type]


def chunks_of(whole: Document, *ranges: tuple[int, int]) -> list[Chunk]:
    return [
        Chunk(
            document=whole.name,
            title=whole.title,
            section=("A", "B"),
            start=start,
            end=end,
            first_line=1,
            last_line=1,
            content=whole.text[start:end],
            text=f"[{whole.title}]\n{whole.text[start:end]}",
            context_start=start,
            tokens=7,
            header_tokens=2,
        )
        for start, end in ranges
    ]


def embed(chunks: Sequence[Chunk], embedder: Embedder = EMBEDDER) -> Matrix:
    return embedder.embed_passages([chunk.text for chunk in chunks])


def tokens_of(chunks: Sequence[Chunk], embedder: Embedder = EMBEDDER) -> TokenVectors:
    return embedder.embed_passages_with_tokens([chunk.text for chunk in chunks])[1]


def put(
    index: Index,
    name: str,
    *passages: str,
    title: str = "T",
    embedder: Embedder = EMBEDDER,
    tokens: bool = False,
    expected_revision: int | None = None,
) -> Document:
    """A document of these passages, one a line, each a chunk."""
    whole = document(name, "\n".join(passages), title=title)
    ranges, start = [], 0
    for passage in passages:
        ranges.append((start, start + len(passage)))
        start += len(passage) + 1
    chunks = chunks_of(whole, *ranges)
    index.replace(
        whole,
        source(name, whole.text),
        chunks,
        embed(chunks, embedder),
        tokens_of(chunks, embedder) if tokens else None,
        expected_revision=expected_revision,
    )
    return whole


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def indexer(
    folder: Path,
    index: Index,
    embedder: Embedder,
    *,
    notes: NotesSettings | None = None,
    chunking: ChunkOptions | None = None,
    expected_stamp: Callable[[], EmbedderStamp | None] | None = None,
) -> Indexer:
    return Indexer(
        folder,
        index,
        lambda: embedder,
        notes=notes or NotesSettings(),
        chunking=chunking or ChunkOptions(),
        expected_stamp=expected_stamp or (lambda: embedder.stamp),
    )


def contents(index: SqliteIndex) -> object:
    """Everything that two equal indexes have in common: no ids, no times."""
    snapshot = index.snapshot()
    ids = [hit.chunk_id for hit in snapshot.dense(_any_question(snapshot.stamp), 10**6, Scope())]
    chunks = snapshot.chunks(ids)
    vectors = snapshot.vectors(ids)
    tokens = [rows.tobytes() for rows in snapshot.token_vectors(ids) or ()] or [b""] * len(ids)
    found = sorted(
        (chunk.document, chunk.start, chunk.end, chunk.text, chunk.section, row.tobytes(), more)
        for chunk, row, more in zip(chunks, vectors, tokens, strict=True)
    )
    known = {
        name: (item.size, item.modified_ns, item.digest, item.extractor, item.state)
        for name, item in index.sources().items()
    }
    texts = {name: index.document_text(name) for name in known}
    return snapshot.stamp, snapshot.coverage, found, known, texts, list(index.failures())


def _any_question(stamp: IndexStamp) -> Matrix:
    question = np.zeros(stamp.embedder.dimensions, dtype=np.float32)
    question[0] = 1
    return question
