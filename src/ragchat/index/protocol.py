"""The index's contract: replace one document whole, open one consistent snapshot.

The snapshot proposes candidates and hands out statistics, chunks and vectors; it never judges. Fusion, the
gate and the verdicts live in retrieval/ and know no storage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, FailedDocument, Locator
from ragchat.embedding.embedder import EmbedderStamp, Int8Matrix, Matrix, TokenVectors, Vector
from ragchat.index.source import Source

Claim = Literal["ours", "theirs", "done"]
"""Of a document several indexers could take: it is ours to do, another is at it, another has done it."""


@dataclass(frozen=True, slots=True)
class IndexStamp:
    """What made an index: a change of embedder or chunker makes every document stale."""

    embedder: EmbedderStamp
    chunker: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk that a search proposes. value: cosine distance (dense) or BM25 score (lexical)."""

    chunk_id: int
    value: float


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to search: below a folder prefix ("house/"), in named documents, or everywhere."""

    prefix: str = ""
    documents: frozenset[str] | None = None

    def admits(self, document: str) -> bool:
        """Whether a document of this name lies in the scope."""
        return document.startswith(self.prefix) and (self.documents is None or document in self.documents)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the folder an answer was searched in.

    indexed: searched by meaning and by words. stale: of another stamp, not searched.
    changed: of those searched, how many were edited or deleted since. pending: new, and not in the index yet;
    by_words: of these, how many were searched by their words alone. outside: left out by a filter.
    """

    indexed: int
    failed: int
    stale: int
    changed: int = 0
    pending: int = 0
    by_words: int = 0
    outside: int = 0

    @property
    def total(self) -> int:
        """Documents of the folder, searched or not."""
        return self.indexed + self.failed + self.stale + self.pending + self.outside

    @property
    def is_whole(self) -> bool:
        """Whether every document that can be read was searched as it is."""
        return not (self.stale or self.changed or self.pending)


class Heading(NamedTuple):
    """A section of a document, by its headings; the range and the line of its first passage."""

    document: str
    section: tuple[str, ...]
    start: int
    end: int
    line: int


class Snapshot(Protocol):
    """One consistent view of an index for one question. Holds only chunks of the index's own stamp.

    `dense` and `lexical` may be called at once from two threads. What is replaced meanwhile stays readable in
    it; so it is let go after the question, not kept for hours.
    """

    @property
    def stamp(self) -> IndexStamp:
        """What made every vector in it."""

    @property
    def coverage(self) -> Coverage:
        """Documents searched, failed, stale."""

    def sources(self) -> Mapping[str, Source]:
        """Every file that it knows, by name, failed ones too: what filters choose from."""

    @property
    def chunk_count(self) -> int:
        """How many chunks can be found."""

    @property
    def approximate(self) -> bool:
        """Whether `dense` may miss a near chunk unless it is told to be exact."""

    def dense(self, question: Vector, limit: int, scope: Scope, *, exact: bool = False) -> list[Hit]:
        """Nearest chunks by cosine distance, ascending.

        Ties of one index of a folder stand by document name, then place, so that an index that was edited
        answers as a fresh one; a library of many folders may have them in any lasting order.

        exact: compare every vector, whatever it takes; before a refusal.
        """

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        """Best chunks by BM25, descending; ties as in `dense`; never one with score 0."""

    def containing(self, token: str, scope: Scope, limit: int) -> list[int]:
        """Ids of the chunks that hold this token, in the order of ties in `dense`."""

    def document_frequency(self, token: str) -> int:
        """In how many chunks the token stands."""

    def chunks(self, chunk_ids: Sequence[int]) -> list[Chunk]:
        """The chunks, in the order asked for."""

    def neighbours(self, chunk_ids: Sequence[int]) -> list[tuple[Chunk | None, Chunk | None]]:
        """The chunks right before and after each in the same section of its document."""

    def vectors(self, chunk_ids: Sequence[int]) -> Matrix:
        """Their unit vectors, shape (len(chunk_ids), dimensions)."""

    def token_vectors(self, chunk_ids: Sequence[int]) -> Sequence[Int8Matrix] | None:
        """Their tokens' vectors, each of shape (tokens, width); None when any of the chunks has none."""

    def dense_of_each(self, questions: Matrix, limit: int) -> list[list[Hit]]:
        """`dense` of each of many questions (rows), everywhere."""


class Index(Protocol):
    """The index of one folder. Writing is done by one thread of one process at a time."""

    @property
    def stamp(self) -> IndexStamp | None:
        """The stamp of what can be searched; None before anything was indexed."""

    @property
    def building(self) -> IndexStamp | None:
        """The stamp of a rebuild that is not whole yet, by whomever it was begun."""

    def coverage(self) -> Coverage:
        """Documents indexed, failed, stale; loads nothing."""

    def chunk_count(self) -> int:
        """How many chunks a snapshot would hold; loads nothing."""

    def generation(self) -> int:
        """Another number after every change of what a snapshot would hold; loads nothing."""

    def writing(self) -> AbstractContextManager[None]:
        """Be the only writer among all processes while inside. Raises IndexLocked when there is another."""

    def begin(self, stamp: IndexStamp) -> None:
        """Write under this stamp from now on.

        While there are documents of another stamp, those stay what snapshots, `stamp` and `document_text`
        show until `finish`; what else this object reads and writes is of the index being built beside them.
        """

    def finish(self) -> None:
        """A whole run is done: search what it built, forget what that replaces, put the storage in order.

        Called while `writing`. Cheap when nothing is due. Raises StorageFailed, after which all is as before.
        """

    def snapshot(self) -> Snapshot:
        """The latest whole state. Cheap when nothing has changed since the last call.

        Raises IndexMissing before anything was indexed, IndexCorrupt for vectors that are not unit length.
        """

    def sources(self) -> Mapping[str, Source]:
        """Every file the index knows, by name."""

    def sections(self) -> Sequence[Heading]:
        """Every section that passages stand in, in the order of the documents. Reads all of the index."""

    def failures(self) -> Sequence[FailedDocument]:
        """Files that could not be read, with their reasons, by name."""

    def vectors_of_texts(self, digests: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors of the index's own stamp for chunk texts seen before, by sha256 of the text."""

    def vectors_of_document(self, name: str) -> Mapping[str, Vector]:
        """The same for one document's chunks; nothing for a document that is unknown or stale."""

    def token_vectors_of_texts(self, digests: Sequence[str]) -> Mapping[str, Int8Matrix]:
        """Token vectors as `vectors_of_texts`, of the texts that have some."""

    def token_vectors_of_document(self, name: str) -> Mapping[str, Int8Matrix]:
        """Token vectors as `vectors_of_document`, of the chunks that have some."""

    def replace(
        self,
        document: Document,
        source: Source,
        chunks: Sequence[Chunk],
        vectors: Matrix,
        tokens: TokenVectors | None = None,
        *,
        expected_revision: int | None = None,
    ) -> None:
        """Put the document in place of its old version, in one transaction.

        tokens: of all chunks, in their order. Raises RevisionConflict, and changes nothing, when the document
        is not at the revision that is expected; ValueError for what does not fit.
        """

    def fail(self, failure: FailedDocument, source: Source) -> None:
        """Record that the file cannot be read; its old version goes."""

    def claim(self, name: str, revision: int) -> Claim:
        """Take a document for this indexer before it is read; given back by `release`.

        revision: the one it had when the work was planned, 0 for none.
        """

    def release(self, name: str) -> None:
        """Let others have the document again."""

    def touch(self, source: Source) -> None:
        """The file's content is what it was: keep its new size, time and check; failed files too."""

    def rename(self, old: str, document: Document, source: Source, chunks: Sequence[Chunk]) -> None:
        """The same content under a new name: nothing is embedded again.

        Raises ValueError when a chunk's text was never embedded.
        """

    def remove(self, name: str) -> None:
        """Forget a file that is gone."""

    def document_text(self, name: str) -> str | None:
        """The canonical text as it was when indexed; None for an unknown document."""

    def document_locators(self, name: str) -> tuple[Locator, ...]:
        """Pages, slides, rows and the like of that text, in order; none for an unknown document."""

    def passages_of(self, name: str) -> int:
        """How many chunks that document has; 0 for an unknown one."""

    def gaps(self) -> Mapping[str, tuple[str, ...]]:
        """Documents of which something could not be read, by name, with what and why."""

    def read_value(self, key: str) -> str | None:
        """A small value kept with the index (the calibrated threshold, say)."""

    def write_value(self, key: str, value: str) -> None:
        """Keep a small value with the index."""

    def close(self) -> None:
        """Release the file."""
