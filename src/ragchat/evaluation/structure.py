"""What cutting did to a folder, before any question is asked: answers cut in two, headers, size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.evaluation.leaning import leaning_chunks
from ragchat.evaluation.questions import Gold, Question
from ragchat.evaluation.statistics import Proportion, proportion
from ragchat.index.protocol import Index, Scope, Snapshot


@dataclass(frozen=True, slots=True)
class Structure:
    """destroyed: answerable questions whose first gold span lies whole in no passage; None without any.

    characters: median length of a passage, as it is sent.
    header_share: of all embedded tokens, those of headers.
    over_window: passages that the encoder cannot read whole.
    leaning: passages that begin by pointing at what stood before them (`leaning_chunks`).
    growth: embedded characters for each character of the notes. bytes: of the index; for each byte of notes.
    """

    chunks: int
    characters: float
    destroyed: Proportion | None
    header_share: float
    over_window: int
    leaning: int
    growth: float
    bytes: int
    bytes_growth: float


def measure_structure(index: Index, questions: Sequence[Question], place: Path) -> Structure:
    """Over everything in the index. place: the folder that holds its files."""
    snapshot = index.snapshot()
    chunks = all_chunks(snapshot)
    sources = [source for source in index.sources().values() if source.state == "indexed"]
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
    tokens = sum(chunk.tokens for chunk in chunks)
    written = sum(len(index.document_text(source.name) or "") for source in sources)
    return Structure(
        chunks=len(chunks),
        characters=float(median(len(chunk.sent) for chunk in chunks)) if chunks else 0.0,
        destroyed=destroyed(chunks, questions),
        header_share=sum(chunk.header_tokens for chunk in chunks) / max(tokens, 1),
        over_window=sum(chunk.tokens > snapshot.stamp.embedder.window for chunk in chunks),
        leaning=len(leaning_chunks(chunks)),
        growth=sum(len(chunk.text) for chunk in chunks) / max(written, 1),
        bytes=size,
        bytes_growth=size / max(sum(source.size for source in sources), 1),
    )


def all_chunks(snapshot: Snapshot) -> list[Chunk]:
    """Every passage that can be found."""
    anything = np.zeros(snapshot.stamp.embedder.dimensions, dtype=np.float32)
    anything[0] = 1.0
    hits = snapshot.dense(anything, snapshot.chunk_count, Scope())
    return snapshot.chunks(sorted(hit.chunk_id for hit in hits))


def destroyed(chunks: Sequence[Chunk], questions: Sequence[Question]) -> Proportion | None:
    """How many answers no passage holds whole, however it is searched. Each span counts once."""
    by_document: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document, []).append(chunk)

    def is_cut(gold: Gold) -> bool:
        return not any(
            chunk.context_start <= gold.start and gold.end <= chunk.end
            for chunk in by_document.get(gold.document, ())
        )

    spans = dict.fromkeys(question.golds[0] for question in questions if question.answerable)
    return proportion([float(is_cut(gold)) for gold in spans])
