"""One folder of notes with everything that serves it, each part opened when it is first asked for.

The screens and the command line make one of these and use its two front doors: `update` (the indexer) and
`assistant`. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import math
import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat.answering.coverage import Changes
from ragchat.answering.folder_file import remember_folder
from ragchat.answering.folder_index import FolderIndex
from ragchat.answering.folder_models import FolderModels
from ragchat.errors import FolderMissing, IndexMissing, SetupError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragchat.answering.assistant import Assistant
    from ragchat.answering.context_estimate import ContextEstimate
    from ragchat.answering.conversation import Conversation
    from ragchat.answering.conversations import Conversations
    from ragchat.answering.retrieves import Retrieves
    from ragchat.answering.status import FolderStatus
    from ragchat.answering.verification import VerifiedSpan
    from ragchat.embedding.embedder import Embedder
    from ragchat.index.contexts import Contexts
    from ragchat.index.progress import IndexReport, ProgressListener, Survey
    from ragchat.index.protocol import Index
    from ragchat.index.waiting import Waiting
    from ragchat.retrieval.cross_encoder import CrossEncoderReranker
    from ragchat.settings import Settings

_JUST_NOW_SECONDS = 2.0
"""So long after an update the folder need not be looked through again for a question."""


class Workspace(FolderModels):
    """Opened parts are shared between threads; `update` runs in one thread at a time.

    is_watched: set while someone updates the index upon every change, so that no question need look for any.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        super().__init__(folder, settings)
        self._kept = FolderIndex(self._data_dir, settings)
        self._waiting: Waiting | None = None
        self._left = Changes()
        self._updated = -math.inf
        self.is_watched = False

    def index(self) -> Index:
        """The folder's index, created when there is none. Raises IndexCorrupt, StorageFailed."""
        return self._kept.opened()

    def embedder(self) -> Embedder:
        """The configured embedder, loaded once. Raises EmbedderUnavailable."""
        return self._kept.embedder()

    def reranker(self) -> CrossEncoderReranker | None:
        """The configured cross-encoder, loaded once; None where none is. Raises EmbedderUnavailable."""
        return self._kept.reranker()

    def has_index(self) -> bool:
        """Whether the folder was ever indexed."""
        return self._kept.exists()

    @property
    def is_shared(self) -> bool:
        """Whether the index is a library that others use too: then only `update` changes it, when asked."""
        return self._kept.is_shared

    def describe_library(self) -> str:
        """The server of a shared library in one line. Raises StorageFailed, SetupError."""
        return self._kept.library().describe()

    def would_forget(self) -> tuple[int, int]:
        """How many documents of the index the folder lacks, and how many there are. Raises FolderMissing."""
        from ragchat.documents.reader import supported
        from ragchat.index.scan import scan

        known = self.index().sources()
        there = {note.name for note in scan(self.folder, self.settings.notes, supported).notes}
        return len(known.keys() - there), len(known)

    def share(self, role: str) -> None:
        """Let a database role read the shared library. Raises UsageError without one, StorageFailed."""
        self._kept.library().share(role)

    def is_known(self) -> bool:
        """Whether anything is kept of the folder."""
        return self._data_dir.exists()

    def survey(self) -> Survey:
        """What lies in the folder, before anything is read. Raises FolderMissing."""
        from ragchat.documents.reader import supported
        from ragchat.index.scan import survey

        return survey(self.folder, self.settings.notes, supported)

    def update(
        self,
        *,
        rebuild: bool = False,
        retry: bool = False,
        on_progress: ProgressListener | None = None,
        cancel: threading.Event | None = None,
        contexts: Contexts | None = None,
    ) -> IndexReport:
        """Bring the index up to date, then the automatic threshold. Raises IndexStale, IndexLocked, …

        contexts: of `contexts()`, by whoever has agreed to what a first run of them costs; later ones need
        no new agreement. Raises SetupError without it.
        """
        from ragchat.index.indexer import Indexer
        from ragchat.index.waiting import Waiting
        from ragchat.retrieval.legibility import NoticedEarly, legibility_notice

        self._require_folder()
        index = self._kept.to_rebuild() if rebuild else self._kept.opened()
        noticed = NoticedEarly(index, self.folder, on_progress or (lambda _: None))
        indexer = Indexer(
            self.folder,
            index,
            lambda: self._kept.embedder(on_progress, cancel),
            notes=self.settings.notes,
            chunking=self._kept.chunking(),
            expected_stamp=self._kept.expected_stamp,
            contexts=contexts or self._agreed_contexts(),
        )
        remember_folder(self._data_dir, self.folder)
        self._waiting = waiting = Waiting()
        try:
            report = indexer.run(
                rebuild=rebuild, retry=retry, on_progress=noticed, cancel=cancel, waiting=waiting
            )
        finally:
            self._waiting = None
        self._left, self._updated = Changes(new=report.pending), time.monotonic()
        if report.complete:
            self._calibrate(on_progress)
        if report.added + report.updated and not report.warning:
            notice = noticed.notice or legibility_notice(self._kept.opened(), self.folder)
            report = replace(report, warning=notice)
        return report

    def contexts(self) -> Contexts | None:
        """What writes a context before each passage; None where the settings want none."""
        model = self.settings.chunking.context
        if not model:
            return None
        from ragchat.answering.contexts import ContextWriter

        return ContextWriter(self._model_server(), model, self._data_dir)

    def estimate_contexts(self, contexts: Contexts, *, rebuild: bool = False) -> ContextEstimate | None:
        """What the next update will write, from a trial; see `estimate_contexts`."""
        from ragchat.answering.context_estimate import estimate_contexts

        index, cutting = self._kept.opened(), self._kept.chunking()
        return estimate_contexts(
            self.folder, self.settings.notes, index, cutting, self.embedder(), contexts, rebuild=rebuild
        )

    def _agreed_contexts(self) -> Contexts | None:
        if (contexts := self.contexts()) and self._kept.opened().stamp is None:
            raise SetupError(
                f"{self.settings.chunking.context} is to write a context before every passage, "
                "which takes its time",
                hint=f"ragchat index -f {self.folder} tells how long, and does it",
            )
        return contexts

    def watch(
        self,
        stop: threading.Event,
        *,
        on_stir: Callable[[], None],
        on_change: Callable[[], None],
        on_poll: Callable[[str], None],
    ) -> None:
        """Tell of changes in the folder until `stop` is set; see `watch_folder`. Blocks."""
        from ragchat.documents.reader import supported
        from ragchat.index.watch import watch_folder

        watch_folder(
            self.folder,
            self.settings.notes,
            supported,
            stop,
            on_stir=on_stir,
            on_change=on_change,
            on_poll=on_poll,
        )

    def retriever(self) -> Retrieves:
        """Searches the latest whole state of the index.

        Raises IndexMissing, IndexStale, EmbedderUnavailable.
        """
        from ragchat.answering.retrieves import Covering
        from ragchat.retrieval.retriever import Retriever
        from ragchat.retrieval.threshold import refresh_threshold

        if not self.has_index():
            self._require_folder()
            raise IndexMissing(f"{self.folder} has no index yet", hint=f"ragchat index -f {self.folder}")
        # Loading the model takes a while in which notes are read: what is searched is taken after it.
        index, embedder, settings = self._kept.opened(), self.embedder(), self.settings.retrieval
        if (waiting := self._waiting) is not None:
            from ragchat.answering.at_once import RetrieverAtOnce

            return RetrieverAtOnce(index, waiting, embedder, self._kept.chunking(), settings)
        threshold = refresh_threshold(index, embedder, settings)
        retriever = Retriever(index.snapshot(), embedder, settings, threshold, self._kept.reranker())
        return Covering(retriever, self._changes)

    def assistant(self) -> Assistant:
        """Answers questions from the latest whole state of the index."""
        from ragchat.answering.assistant import Assistant

        return Assistant(
            retriever=self.retriever,
            embedder=self.embedder,
            server=self._model_server,
            preferred_model=self.model,
            settings=self.settings.ollama,
            memory=self._model_memory(),
        )

    def verify(self, document: str, start: int, end: int, quote: str = "") -> VerifiedSpan:
        """A citation held against its note as it is now; see `verify_span`."""
        from ragchat.answering.verification import verify_span

        return verify_span(self.folder, self.settings.notes, self._kept.opened(), document, start, end, quote)

    def conversations(self) -> Conversations:
        """All that were held about the folder."""
        from ragchat.answering.conversations import Conversations

        return Conversations(self._data_dir)

    def conversation(self) -> Conversation:
        """The one that was used last."""
        return self.conversations().latest()

    def status(self) -> FolderStatus:
        """What `ragchat status` tells. Loads no model. Raises FolderMissing without folder and index."""
        from ragchat.answering.status import read_status
        from ragchat.index.space import bytes_on_disk

        if not self.has_index():
            self._require_folder()
        told = read_status(
            self.folder,
            self._kept.opened() if self.has_index() else None,
            self.settings,
            chunker=self._kept.chunking().stamp,
            expected_stamp=self._kept.expected_stamp,
        )
        return replace(told, disk_bytes=0 if self.is_shared else bytes_on_disk(self._data_dir))

    def forget(self) -> None:
        """Delete the folder's index, conversation, questions. Raises IndexLocked while another indexes."""
        from ragchat.index.files import remove_database
        from ragchat.index.lock import writer_lock

        self.close()
        if not self._data_dir.exists():
            return
        with writer_lock(self._data_dir):
            remove_database(self._data_dir)
            self.conversation().clear()
        shutil.rmtree(self._data_dir, ignore_errors=True)

    def close(self) -> None:
        """Release files; what is asked for again is opened again."""
        self._kept.close()

    def _require_folder(self) -> None:
        if not self.folder.is_dir():
            what = "is no folder" if self.folder.exists() else "is not there"
            raise FolderMissing(f"{self.folder} {what}", hint="name a folder of notes: ragchat FOLDER")

    def _changes(self) -> Changes:
        """What the folder holds that the index does not know; looked up unless that was just done."""
        from ragchat.answering.status import changes_since

        if self.is_shared:
            return Changes()  # the folder may be on another machine
        if self.is_watched or time.monotonic() - self._updated < _JUST_NOW_SECONDS:
            return self._left
        return changes_since(self.folder, self._kept.opened(), self.settings)

    def _calibrate(self, on_progress: ProgressListener | None) -> None:
        from ragchat.index.progress import IndexProgress
        from ragchat.retrieval.threshold import is_outdated, needs_refresh, renew_threshold

        index = self._kept.opened()
        # Others write to a shared library all the time: there it need not be the one of this very moment.
        due = needs_refresh if self.is_shared else is_outdated
        if due(index, self.settings.retrieval):
            if on_progress is not None:
                on_progress(IndexProgress("calibrating"))
            renew_threshold(index, self.embedder(), self.settings.retrieval)
