"""A folder's index filled through the public `Index` alone, with vectors that nobody had to compute."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.synthetic import CHUNKS_PER_NOTE, Matrix
from ragchat.answering.workspace import Workspace
from ragchat.chunking.chunk import Chunk
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document
from ragchat.documents.reader import extractor_of
from ragchat.embedding.registry import expected_stamp
from ragchat.index.protocol import IndexStamp
from ragchat.index.source import Source
from ragchat.settings import Settings

_LATER_NS = 10_000_000_000
"""A note is trusted to be unchanged when it was read well after it was written."""


def fill(
    workspace: Workspace,
    texts: Sequence[str],
    vectors: Matrix,
    *,
    on_disk: bool,
    chunks_per_note: int = CHUNKS_PER_NOTE,
) -> None:
    """Put every text, as one chunk of a note, into the workspace's index, under the stamp of the defaults.

    on_disk: write the notes into the folder too, so that an update finds each as the index knows it.
    """
    index = workspace.index()
    with index.writing():
        index.begin(stamp_of_defaults())
        for start, document, chunks in documents(texts, chunks_per_note):
            path = workspace.folder / document.name
            if on_disk:
                _write(path, document.text)
            source = _source(path if on_disk else None, document)
            index.replace(document, source, chunks, vectors[start : start + len(chunks)])
        index.finish()


def stamp_of_defaults() -> IndexStamp:
    """What an index that is made with the default settings carries."""
    settings = Settings()
    embedder = expected_stamp(settings.embedding, ollama_host=settings.ollama.host)
    assert embedder is not None
    return IndexStamp(embedder, ChunkOptions().stamp)


def documents(
    texts: Sequence[str], chunks_per_note: int, first: int = 0
) -> Iterator[tuple[int, Document, list[Chunk]]]:
    """The texts as notes, each with the place of its first text and its chunks. first: the first's number."""
    for start in range(0, len(texts), chunks_per_note):
        number = first + start // chunks_per_note
        name = f"{number // 100:04d}/note-{number:06d}.md"
        paragraphs = texts[start : start + chunks_per_note]
        text = "\n\n".join(paragraphs) + "\n"
        digest = hashlib.sha256(text.encode()).hexdigest()
        title = f"note-{number:06d}"
        document = Document(name, title, text, "utf-8", (), (), (), (), (), extractor_of(name), digest)
        yield start, document, list(_chunks(document, paragraphs))


def _chunks(document: Document, paragraphs: Sequence[str]) -> Iterator[Chunk]:
    at = 0
    for number, paragraph in enumerate(paragraphs):
        yield Chunk(
            document=document.name,
            title=document.title,
            section=(),
            start=at,
            end=at + len(paragraph),
            first_line=2 * number + 1,
            last_line=2 * number + 1,
            content=paragraph,
            text=f"[{document.title}]\n{paragraph}",
            context_start=at,
            tokens=paragraph.count(" ") + 8,
            header_tokens=5,
        )
        at += len(paragraph) + 2


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _source(path: Path | None, document: Document) -> Source:
    if path is None:
        size, modified = len(document.text.encode()), 1
    else:
        status = path.stat()
        size, modified = status.st_size, status.st_mtime_ns
    checked = max(modified, time.time_ns()) + _LATER_NS
    return Source(document.name, size, modified, document.digest, document.extractor, "indexed", checked)
