"""Bring the index of a folder up to date: read what changed, embed what is new, forget what is gone."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from ragchat.chunking.chunk import Chunk, TokenCounter
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document
from ragchat.documents.reader import extractor_of, open_reader, supported
from ragchat.embedding.embedder import Embedder, EmbedderStamp
from ragchat.errors import IndexStale
from ragchat.index.contexts import Contexts
from ragchat.index.intake import Reader
from ragchat.index.plan import plan_rebuild, plan_update, warning_of
from ragchat.index.progress import IndexReport, ProgressListener, Survey
from ragchat.index.protocol import Index, IndexStamp
from ragchat.index.run import Run
from ragchat.index.scan import scan, survey
from ragchat.index.waiting import Waiting
from ragchat.settings import NotesSettings

_MEGABYTE = 1_000_000
_SHOWN = 24

Chunker = Callable[[Document, ChunkOptions, TokenCounter], list[Chunk]]


class Indexer:
    """The front door for indexing one folder. `run` is called by one thread at a time.

    embedder: opens the embedder; called only when something must be embedded, or the stamp is not known.
    expected_stamp: the stamp that `embedder` would give, without opening it; None where that cannot be told.
    read, extractor_of, chunk: how files become documents and documents chunks; the settings
        say how to read where `read` does not.
    contexts: writes what the chunking options ask for beside the passage's own words.
    """

    def __init__(
        self,
        folder: Path,
        index: Index,
        embedder: Callable[[], Embedder],
        *,
        notes: NotesSettings,
        chunking: ChunkOptions,
        expected_stamp: Callable[[], EmbedderStamp | None] = lambda: None,
        read: Reader | None = None,
        extractor_of: Callable[[str], str] = extractor_of,
        chunk: Chunker | None = None,
        contexts: Contexts | None = None,
    ) -> None:
        self._folder = folder
        self._index = index
        self._open_embedder = embedder
        self._notes = notes
        self._chunking = chunking
        self._expected_stamp = expected_stamp
        self._read = read
        self._extractor_of = extractor_of
        self._chunk = chunk or _chunk_document
        self._contexts = contexts
        # The stamp would tell of contexts that are not there.
        assert bool(chunking.context) == (contexts is not None)

    def survey(self) -> Survey:
        """What lies in the folder, before anything is read. Raises FolderMissing."""
        return survey(self._folder, self._notes, supported)

    def run(
        self,
        *,
        rebuild: bool = False,
        retry: bool = False,
        on_progress: ProgressListener | None = None,
        cancel: threading.Event | None = None,
        waiting: Waiting | None = None,
    ) -> IndexReport:
        """One run; what it has done stays, whatever ends it.

        rebuild: read and embed everything again, under the stamp of now. retry: read failed files again.
        waiting: where what was read is found by its words until it is embedded.
        A document that cannot be embedded stays pending, and the report says so. Raises FolderMissing,
        IndexLocked, IndexStale (another embedder or chunker, without rebuild), EmbedderUnavailable,
        StorageFailed.
        """
        with self._reader() as read:
            run = Run(
                folder=self._folder,
                index=self._index,
                open_embedder=self._open_embedder,
                check_stamp=lambda stamp: self._check_stamp(stamp, rebuild=rebuild),
                read=read,
                extractor_of=self._extractor_of,
                chunk=lambda document, counter: self._chunk(document, self._chunking, counter),
                contexts=self._contexts,
                max_bytes=int(self._notes.max_file_mb * _MEGABYTE),
                reuse=not rebuild,
                waiting=waiting or Waiting(),
                on_progress=on_progress or _ignore,
                cancel=cancel or threading.Event(),
            )
            run.tell("scanning")
            with self._index.writing():
                found = scan(self._folder, self._notes, supported)
                searched = self._index.sources()
                if self._check_stamp(self._expected_stamp() or run.embedder().stamp, rebuild=rebuild):
                    sources = self._index.sources()
                else:
                    sources = searched
                if rebuild:
                    plan = plan_rebuild(found, sources)
                else:
                    plan = plan_update(found, sources, self._extractor_of, retry=retry)
                # An index built beside the one in use must not lose what that keeps of notes that are away.
                if sources is not searched:
                    plan = dataclasses.replace(plan, warning=plan.warning or warning_of(found, searched))
                run.execute(plan, sources)
                report = run.report(found, plan)
                if report.complete and not report.warning:
                    self._index.finish()
                return report

    def _reader(self) -> AbstractContextManager[Reader]:
        return open_reader(self._notes) if self._read is None else nullcontext(self._read)

    def _check_stamp(self, embedder: EmbedderStamp, *, rebuild: bool) -> bool:
        """Write under this stamp, or say that the index was made under another. Whether one is begun."""
        kept, building = self._index.stamp, self._index.building
        asked = IndexStamp(embedder, self._chunking.stamp)
        if kept == asked and building is None:
            return False
        if kept is None or rebuild or asked in (kept, building) or not self._index.coverage().indexed:
            self._index.begin(asked)
            return True
        raise IndexStale(
            f"this index was made by {_described(kept, asked)}, "
            f"the settings ask for {_described(asked, kept)}",
            hint="ragchat index --rebuild",
        )


def _chunk_document(document: Document, options: ChunkOptions, counter: TokenCounter) -> list[Chunk]:
    # Imported when a document is cut: most runs before a question find nothing new.
    from ragchat.chunking.chunker import chunk_document

    return chunk_document(document, options, counter)


def _described(stamp: IndexStamp, other: IndexStamp) -> str:
    """The stamp for a person, as far as needed to tell it from the other one."""
    mine, theirs = stamp.embedder, other.embedder
    if mine == theirs:
        return f"the chunker {stamp.chunker}"
    words = f"{mine.model} ({mine.dimensions} dimensions)"
    if (mine.model, mine.dimensions) == (theirs.model, theirs.dimensions):
        # The same name: tell what else is different.
        mine_fields, their_fields = dataclasses.asdict(mine), dataclasses.asdict(theirs)
        details = [
            f"{name.replace('_', ' ')} {str(value)[:_SHOWN]!r}"
            for name, value in mine_fields.items()
            if value != their_fields[name]
        ]
        words += f" with {', '.join(details)}"
    return words if stamp.chunker == other.chunker else f"{words}, chunker {stamp.chunker}"


def _ignore(progress: object) -> None:
    """Nobody watches."""
