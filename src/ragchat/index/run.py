"""One run of the indexer over a plan.

What has to be read is read ahead, the latest edits first, so that it can be found by its words while it waits
for its vectors. Every document is committed whole, so that an interruption at any moment leaves an index that
is true of what it holds; the next run takes up the rest. What is gone is removed last: a moved note keeps its
vectors.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ragchat.chunking.chunk import Chunk, TokenCounter
from ragchat.documents.document import Document, FailedDocument
from ragchat.embedding.embedder import Embedder, EmbedderStamp
from ragchat.errors import BackendError, GenerationFailed, RagchatError
from ragchat.index.batches import Batches, Prepared
from ragchat.index.contexts import Contexts
from ragchat.index.embedded import EmbeddedTexts
from ragchat.index.intake import Reader, has_digest, require_folder, take_in, touched, unexpected
from ragchat.index.moves import Moves
from ragchat.index.packing import text_digest
from ragchat.index.plan import Plan
from ragchat.index.progress import IndexReport, Phase, ProgressListener
from ragchat.index.protocol import Index
from ragchat.index.scan import NoteFile, Scan
from ragchat.index.source import Source
from ragchat.index.tally import Tally
from ragchat.index.waiting import Waiting

_OTHERS_SECONDS = 0.5
"""Until it is looked again whether another indexer has done what it took."""


class Run:
    """The state of one run: what was done so far, and what it was done with.

    check_stamp: told the stamp of the embedder that was opened, before anything is embedded with it.
    reuse: whether vectors of texts seen before serve again. waiting: where what is read waits for vectors.
    """

    def __init__(
        self,
        *,
        folder: Path,
        index: Index,
        open_embedder: Callable[[], Embedder],
        check_stamp: Callable[[EmbedderStamp], object],
        read: Reader,
        extractor_of: Callable[[str], str],
        chunk: Callable[[Document, TokenCounter], Sequence[Chunk]],
        contexts: Contexts | None,
        max_bytes: int,
        reuse: bool,
        waiting: Waiting,
        on_progress: ProgressListener,
        cancel: threading.Event,
    ) -> None:
        self._folder = folder
        self._index = index
        self._open_embedder = open_embedder
        self._check_stamp = check_stamp
        self._read = read
        self._extractor_of = extractor_of
        self._chunk = chunk
        self._contexts = contexts
        self._max_bytes = max_bytes
        self._reuse = reuse
        self._waiting = waiting
        self._cancel = cancel
        self._embedder: Embedder | None = None
        self._batches: Batches | None = None
        self._known: Mapping[str, Source] = {}
        self._moves = Moves((), {})
        self._tally = Tally(
            on_progress,
            embedded=lambda: self._batches.embedded if self._batches else 0,
            contexts=lambda: contexts.costs.written if contexts else 0,
        )
        self._left = EmbeddedTexts()
        self._theirs: list[str] = []

    def embedder(self) -> Embedder:
        """The embedder, opened when first asked for. Raises EmbedderUnavailable, IndexStale."""
        if self._embedder is None:
            self.tell("loading model")
            self._embedder = self._open_embedder()
            self._check_stamp(self._embedder.stamp)
        return self._embedder

    def execute(self, plan: Plan, known: Mapping[str, Source]) -> None:
        """Do what the plan says, as far as the embedder and the user let us.

        Raises FolderMissing when the whole folder goes away meanwhile; what is known of its notes stays.
        """
        self._known = known
        self._moves = Moves(plan.gone, known)
        to_read = sorted(
            [*plan.read, *self._edited(plan.check)], key=lambda note: (-note.modified_ns, note.name)
        )
        self._tally.unchanged += plan.unchanged
        self._tally.total = len(to_read)
        self._waiting.begin((note.name for note in to_read), plan.gone, known)
        self._work(iter(to_read))
        while self._theirs and not self._stopped():
            # Whoever took them may have died: then they are ours after all.
            self._cancel.wait(_OTHERS_SECONDS)
            theirs, self._theirs = set(self._theirs), []
            self._work(note for note in to_read if note.name in theirs)
        # Only a whole pass tells what moved: after a cancel what is gone waits for the next run.
        if not self._cancel.is_set():
            self._remove_gone()

    def _work(self, unread: Iterator[NoteFile]) -> None:
        while not self._stopped():
            self._take_ahead(unread)
            self._waiting.let_questions_pass()
            if (waits := self._waiting.next()) is None:
                break
            self._prepare(*waits)
        if self._batches is not None:
            self._batches.flush()

    def report(self, found: Scan, plan: Plan) -> IndexReport:
        """What was done, and what the index holds now."""
        self.tell("done")
        return self._tally.report(
            self._index,
            skipped=found.skipped,
            warning=plan.warning,
            cancelled=self._cancel.is_set(),
            embedding_error=self._batches.error if self._batches else "",
            contexts=self._contexts.costs if self._contexts else None,
        )

    def tell(self, phase: Phase) -> None:
        """Tell the listener how far it has come."""
        self._tally.tell(phase)

    def _stopped(self) -> bool:
        return self._cancel.is_set() or (self._batches is not None and self._batches.broken)

    def _edited(self, notes: Sequence[NoteFile]) -> list[NoteFile]:
        """Those whose content is not what the index knows; of the others only the facts are renewed."""
        edited = []
        for note in notes:
            if self._cancel.is_set():
                break
            now = touched(note, self._known[note.name])
            if now is not None and has_digest(note, now.digest):
                self._index.touch(now)
                self._tally.unchanged += 1
            else:
                edited.append(note)
        return edited

    def _take_ahead(self, unread: Iterator[NoteFile]) -> None:
        """Read as much as may wait, so that it is found by its words at once."""
        while not self._waiting.is_full and not self._stopped():
            if (note := next(unread, None)) is None:
                break
            self._tally.current = note.name
            self._take(note)
            self._waiting.has_read(note.name)
            self._tally.read_ahead += 1
            self._tally.tell_now_and_then("reading")
            time.sleep(0)  # the screen's turn
        self._waiting.rest()

    def _take(self, note: NoteFile) -> None:
        taken = take_in(note, self._read, self._extractor_of(note.name), self._max_bytes)
        if taken is None:
            require_folder(self._folder)
            if note.name in self._known:
                self._index.remove(note.name)
                self._tally.removed += 1
            self._finish_document(note.name)
        elif isinstance(taken.result, FailedDocument):
            self._fail(taken.result, taken.source)
        else:
            self._waiting.add(taken.result, taken.source)

    def _is_ours(self, name: str) -> bool:
        """Whether this indexer is to do it; several may share the work on a library."""
        known = self._known.get(name)
        claim = self._index.claim(name, known.revision if known else 0)
        if claim == "theirs":
            self._theirs.append(name)
            self._waiting.leave(name)
        elif claim == "done":
            self._tally.unchanged += 1
            self._finish_document(name)
        return claim == "ours"

    def _prepare(self, document: Document, source: Source) -> None:
        if not self._is_ours(document.name):
            return
        self._tally.current = document.name
        embedder = self.embedder()
        if self._batches is None:
            self._batches = Batches(embedder, self._commit, self._after_batch, self._cancel.is_set)
        try:
            chunks = self._waiting.chunks(document, lambda document: self._chunk(document, embedder))
            if self._contexts is not None:
                done = self._contexts.add(document, chunks, embedder, self._after_context, self._cancel)
                if done is None:
                    return
                chunks = done
            digests = [text_digest(chunk.text) for chunk in chunks]
        except BackendError as error:
            hint = f" ({error.hint})" if error.hint else ""
            reason = f"no context could be written for {document.name}: {error.message}{hint}"
            self._batches.leave_out(reason, for_all=not isinstance(error, GenerationFailed))
            return
        except RagchatError:
            raise
        except Exception as error:
            self._fail_unexpectedly(source, error)
            return
        embedded = EmbeddedTexts(embedder.token_dimensions)
        if self._reuse:
            self._take_known(embedded, source.name, digests)
        embedded.take(self._waiting.embedded, digests)
        self._tally.reused += sum(digest in embedded for digest in digests)
        prepared = Prepared(document, source, chunks, digests, embedded, moved_from=self._moves.begin(source))
        self._batches.add(prepared)

    def _after_context(self) -> None:
        self._tally.tell_now_and_then("indexing")
        self._waiting.let_questions_pass()

    def _after_batch(self) -> None:
        self.tell("indexing")
        self._waiting.let_questions_pass()

    def _take_known(self, embedded: EmbeddedTexts, name: str, digests: Sequence[str]) -> None:
        """What is known of these; what the old version alone has is kept for notes still to come."""
        embedded.take_indexed(self._index, digests)
        embedded.take(self._left, digests)
        if name in self._known:
            leaving = EmbeddedTexts(embedded.token_dimensions)
            leaving.take_document(self._index, name)
            self._left.token_dimensions = embedded.token_dimensions
            self._left.take(leaving, leaving.digests() - set(digests))

    def _commit(self, prepared: Prepared) -> None:
        document, old = prepared.document, prepared.moved_from
        try:
            if old and self._index.vectors_of_document(old).keys() >= set(prepared.digests):
                self._index.rename(old, document, prepared.source, prepared.chunks)
            else:
                self._index.replace(
                    document,
                    prepared.source,
                    prepared.chunks,
                    prepared.embedded.matrix(prepared.digests),
                    prepared.embedded.token_vectors(prepared.digests),
                )
        except ValueError as error:
            self._fail_unexpectedly(prepared.source, error)
            return
        if old:
            self._moves.end(old)
            self._tally.moved += 1
        elif document.name in self._known:
            self._tally.updated += 1
        else:
            self._tally.added += 1
        self._finish_document(document.name)

    def _fail_unexpectedly(self, source: Source, error: Exception) -> None:
        failure = FailedDocument(
            source.name,
            unexpected(error),
            "the other notes are not affected; please report this",
            source.digest,
            source.extractor,
        )
        self._fail(failure, source._replace(state="failed"))

    def _fail(self, failure: FailedDocument, source: Source) -> None:
        self._index.fail(failure, source)
        self._tally.failed += 1
        self._finish_document(source.name)

    def _finish_document(self, name: str) -> None:
        self._index.release(name)
        self._waiting.leave(name)
        self._tally.done += 1
        self._tally.tell_now_and_then("indexing")

    def _remove_gone(self) -> None:
        for name, for_good in self._moves.left_behind():
            self._index.remove(name)
            self._tally.removed += for_good
