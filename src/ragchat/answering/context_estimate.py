"""What the contexts of a folder's passages will cost, from a trial on a few of them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document
from ragchat.documents.reader import extractor_of, open_reader, supported
from ragchat.embedding.embedder import Embedder
from ragchat.index.contexts import Contexts
from ragchat.index.plan import plan_update
from ragchat.index.protocol import Index
from ragchat.index.scan import NoteFile, scan
from ragchat.index.source import Source
from ragchat.settings import NotesSettings

_TRIED = 3
"""Passages that are asked about; what was written for them is kept."""
_NOTES_TRIED = 5
_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class ContextEstimate:
    """About so many passages, tokens read and written, and seconds, as the first few passages went."""

    passages: int
    prompt_tokens: int
    answer_tokens: int
    seconds: float


def estimate_contexts(
    folder: Path,
    notes: NotesSettings,
    index: Index,
    options: ChunkOptions,
    embedder: Embedder,
    contexts: Contexts,
    *,
    rebuild: bool,
) -> ContextEstimate | None:
    """None where nothing is to be written. Raises FolderMissing, BackendError."""
    to_do = _to_do(folder, notes, index, options, rebuild=rebuild)
    never = threading.Event()
    with open_reader(notes) as read:
        for note in to_do[:_NOTES_TRIED]:
            document = read(note.path, note.name, max_bytes=int(notes.max_file_mb * _MEGABYTE))
            if not isinstance(document, Document):
                continue
            chunks = chunk_document(document, options, embedder)
            for chunk in chunks:
                if contexts.costs.written + contexts.costs.without < _TRIED:
                    contexts.add(document, [chunk], embedder, _nothing, never)
            if written := contexts.costs.written:
                costs = contexts.costs
                whole = round(sum(one.size for one in to_do) / note.size * len(chunks))
                passages = max(written, whole - costs.kept)
                times = passages / written
                return ContextEstimate(
                    passages,
                    round(costs.prompt_tokens * times),
                    round(costs.answer_tokens * times),
                    costs.seconds * times,
                )
    return None


def _to_do(
    folder: Path, notes: NotesSettings, index: Index, options: ChunkOptions, *, rebuild: bool
) -> list[NoteFile]:
    """The notes that the next run will have to cut, the largest first."""
    found = scan(folder, notes, supported)
    sources: Mapping[str, Source] = {}
    asked = [stamp for stamp in (index.stamp, index.building) if stamp and stamp.chunker == options.stamp]
    if asked and not rebuild:
        sources = index.sources()
    plan = plan_update(found, sources, extractor_of, retry=False)
    edited = [note for note in plan.check if note.size != sources[note.name].size]
    return sorted([*plan.read, *edited], key=lambda note: -note.size)


def _nothing() -> None:
    """Nobody watches."""
