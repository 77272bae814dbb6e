"""Embed the texts of many documents together, and hand each on when all of its vectors are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document
from ragchat.embedding.embedder import Embedder
from ragchat.index.embedded import EmbeddedTexts
from ragchat.index.source import Source

BATCH = 32
"""Texts embedded at once: about a second's work, after which progress is told and a cancel is heard."""

_FAILURES_IN_A_ROW = 3
"""After so many documents that could not be embedded one after the other, the embedder itself is at fault."""


@dataclass(slots=True)
class Prepared:
    """A document ready but for some vectors.

    digests: of its chunks' texts. embedded: those that have vectors.
    moved_from: the name under which the index knows the same content, or "".
    """

    document: Document
    source: Source
    chunks: Sequence[Chunk]
    digests: Sequence[str]
    embedded: EmbeddedTexts
    moved_from: str = ""

    def missing(self) -> dict[str, str]:
        """Texts that have no vector yet, by digest."""
        return {
            digest: chunk.text
            for digest, chunk in zip(self.digests, self.chunks, strict=True)
            if digest not in self.embedded
        }


class Batches:
    """Embeds what is added, in the order it came, and commits each document whole.

    A text that cannot be embedded keeps back its own document alone; `error` says why. `broken` is set when
    trying further documents is of no use. embedded: texts so far.
    """

    def __init__(
        self,
        embedder: Embedder,
        commit: Callable[[Prepared], None],
        on_batch: Callable[[], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self.embedded = 0
        self.error = ""
        self.broken = False
        self._embedder = embedder
        self._commit = commit
        self._on_batch = on_batch
        self._cancelled = cancelled
        self._queue: list[Prepared] = []
        self._waiting_texts = 0
        self._failures_in_a_row = 0

    def add(self, prepared: Prepared) -> None:
        """Take a document; it is committed now or by a later call."""
        self._queue.append(prepared)
        self._waiting_texts += len(prepared.missing())
        if self._waiting_texts >= BATCH or self._waiting_texts == 0:
            self.flush()

    def leave_out(self, reason: str, *, for_all: bool) -> None:
        """A document waits for the next run. for_all: what it lacks, every other one lacks too."""
        self.error = self.error or reason
        self.flush()
        self._failures_in_a_row += 1
        self.broken = for_all or self._failures_in_a_row >= _FAILURES_IN_A_ROW

    def flush(self) -> None:
        """Embed and commit everything that was added, as far as it can be."""
        queue, self._queue, self._waiting_texts = self._queue, [], 0
        if self.broken or self._embed(queue) or len(queue) == 1:
            return
        # One text spoils its batch: find out whose it is.
        for prepared in queue:
            if prepared.missing() and not self.broken:
                self._embed([prepared])

    def _embed(self, queue: Sequence[Prepared]) -> bool:
        texts = {digest: text for prepared in queue for digest, text in prepared.missing().items()}
        digests = list(texts)
        done = self._commit_whole(queue, 0)
        for start in range(0, len(digests), BATCH):
            if self._cancelled():
                return True
            batch = digests[start : start + BATCH]
            found = EmbeddedTexts(self._embedder.token_dimensions)
            try:
                found.embed(self._embedder, {digest: texts[digest] for digest in batch})
            except Exception as error:
                self._note_failure(error, queue)
                return False
            for prepared in queue[done:]:
                prepared.embedded.take(found, prepared.missing())
            self.embedded += len(batch)
            self._failures_in_a_row = 0
            done = self._commit_whole(queue, done)
            self._on_batch()
        return True

    def _commit_whole(self, queue: Sequence[Prepared], done: int) -> int:
        while done < len(queue) and not queue[done].missing():
            self._commit(queue[done])
            done += 1
        return done

    def _note_failure(self, error: Exception, queue: Sequence[Prepared]) -> None:
        message = " ".join(str(error).split()) or type(error).__name__
        if len(queue) == 1:
            self._failures_in_a_row += 1
            self.broken = self._failures_in_a_row >= _FAILURES_IN_A_ROW
            message = f"{queue[0].document.name}: {message}"
        self.error = self.error or message
