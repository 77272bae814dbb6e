"""What a run of the indexer has done so far, and how whoever waits for it is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from ragchat.index.contexts import ContextCosts
from ragchat.index.progress import IndexProgress, IndexReport, Phase, ProgressListener
from ragchat.index.protocol import Index

_QUIET_SECONDS = 0.1
"""A listener is told no oftener: a screen cannot show more."""


class Tally:
    """Counts of documents, but for `reused`: chunks whose vectors were known.

    total: to be read. read_ahead: read, and perhaps waiting still. done: in the index, failed or gone.
    current: the name of the one at hand. embedded, contexts: tell how many chunks were embedded, and for how
    many a context was written.
    """

    def __init__(
        self, on_progress: ProgressListener, *, embedded: Callable[[], int], contexts: Callable[[], int]
    ) -> None:
        self.total = self.read_ahead = self.done = self.reused = self.failed = 0
        self.added = self.updated = self.moved = self.removed = self.unchanged = 0
        self.current = ""
        self.embedded = embedded
        self._contexts = contexts
        self._on_progress = on_progress
        self._started = time.monotonic()
        self._told = 0.0

    @property
    def pending(self) -> int:
        """How many are left for the next run."""
        return self.total - self.done

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._started

    def tell(self, phase: Phase) -> None:
        """Tell the listener how far it has come."""
        self._told = time.monotonic()
        self._on_progress(
            IndexProgress(
                phase=phase,
                documents_done=self.done,
                documents_total=self.total,
                chunks_embedded=self.embedded(),
                chunks_reused=self.reused,
                failed=self.failed,
                # While a model is loaded this says why, not which note happened to ask for it.
                current=self.current if phase in ("reading", "indexing") else "",
                documents_read=self.read_ahead,
                contexts=self._contexts(),
            )
        )

    def tell_now_and_then(self, phase: Phase) -> None:
        """The same, unless it was told a moment ago."""
        if time.monotonic() - self._told >= _QUIET_SECONDS:
            self.tell(phase)

    def report(
        self,
        index: Index,
        *,
        skipped: Mapping[str, int],
        warning: str,
        cancelled: bool,
        embedding_error: str,
        contexts: ContextCosts | None,
    ) -> IndexReport:
        """What was done, and what the index holds now. embedding_error: why anything is left, if it is."""
        return IndexReport(
            indexed=index.coverage().indexed,
            added=self.added,
            updated=self.updated,
            moved=self.moved,
            removed=self.removed,
            unchanged=self.unchanged,
            chunks=index.chunk_count(),
            chunks_embedded=self.embedded(),
            failures=tuple(index.failures()),
            skipped=dict(skipped),
            seconds=self.seconds,
            complete=not self.pending and not cancelled,
            warning=warning,
            pending=self.pending,
            embedding_error=embedding_error if self.pending else "",
            gaps=index.gaps(),
            contexts=contexts,
        )
