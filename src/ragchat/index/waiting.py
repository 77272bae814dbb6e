"""Documents that are read and have no vectors yet: found by their words, and embedded first when asked about.

They are kept by the running process alone. Nothing of them is on disk, so that a process killed in between
has lost no more than its reading, and the index never names a document that it cannot search by meaning.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document
from ragchat.index.embedded import EmbeddedTexts
from ragchat.index.protocol import Scope
from ragchat.index.source import DocumentState, Source
from ragchat.index.tokens import tokenize
from ragchat.index.words import Words

MOST_CHARACTERS = 50_000_000
"""So much text is kept ahead of the embedder; reading goes on when some of it is embedded."""
_LONGEST_PAUSE = 3.0
"""Seconds for which embedding gives way to a question."""
_WINDOW = 2_000
"""Characters that are weighed together: a long book is no better found than a short note."""


@dataclass(slots=True)
class _Waits:
    document: Document
    source: Source
    rows: range
    chunks: Sequence[Chunk] | None = None


class Waiting:
    """Filled by one run of the indexer, searched by any thread.

    embedded: passages that were embedded for a question.
    """

    def __init__(self) -> None:
        self.embedded = EmbeddedTexts()
        self._lock = threading.Lock()
        self._read = threading.Event()
        self._begun = threading.Event()
        self._began = 0.0
        self._questions = 0
        self._no_question = threading.Condition()
        self._words = Words()
        self._waits: dict[str, _Waits] = {}
        self._document_of_row: list[str] = []
        self._queue: dict[str, None] = {}  # an ordered set: what is embedded next comes first
        self._asked: dict[str, None] = {}
        self._unread: set[str] = set()
        self._gone: frozenset[str] = frozenset()
        self._known: Mapping[str, Source] = {}
        self._characters = 0

    def begin(self, unread: Iterable[str], gone: Iterable[str], known: Mapping[str, Source]) -> None:
        """unread: names still to be read. gone: names that the folder no longer has. known: by the index."""
        self._began = time.monotonic()
        self._begun.set()
        with self._lock:
            self._unread = set(unread)
            self._gone = frozenset(gone)
            self._known = known

    def add(self, document: Document, source: Source) -> None:
        """A document was read."""
        tokens = [tokenize(f"{document.title}\n{window}") for window in _windows(document)]
        with self._lock:
            rows = self._words.add(tokens)
            self._waits[document.name] = _Waits(document, source, rows)
            self._document_of_row += [document.name] * len(rows)
            self._queue[document.name] = None
            self._characters += len(document.text)

    def has_read(self, name: str) -> None:
        """It was read, or could not be."""
        with self._lock:
            self._unread.discard(name)

    def rest(self) -> None:
        """Reading pauses or is over: questions need not wait for it."""
        self._read.set()

    def wait_until_read(self, seconds: float) -> None:
        """Give reading the time to come to its end, so many seconds from its beginning at the most.

        They are counted from there, because who asked meanwhile has waited for the model already.
        """
        if self._begun.wait(seconds):
            self._read.wait(max(0.0, self._began + seconds - time.monotonic()))

    @contextmanager
    def question(self) -> Iterator[None]:
        """Someone waits for an answer meanwhile: embedding for the index pauses."""
        with self._no_question:
            self._questions += 1
        try:
            yield
        finally:
            with self._no_question:
                self._questions -= 1
                self._no_question.notify_all()

    def let_questions_pass(self) -> None:
        """Give way to questions, but not for ever."""
        with self._no_question:
            self._no_question.wait_for(lambda: self._questions == 0, _LONGEST_PAUSE)

    @property
    def is_full(self) -> bool:
        """Whether so much is waiting that reading on would only take memory."""
        return self._characters >= MOST_CHARACTERS

    def next(self) -> tuple[Document, Source] | None:
        """What is to be embedded next: what was asked about, else in the order of reading."""
        with self._lock:
            name = next(iter(self._asked), None) or next(iter(self._queue), None)
            if name is None:
                return None
            self._asked.pop(name, None)
            self._queue.pop(name, None)
            return self._waits[name].document, self._waits[name].source

    def leave(self, name: str) -> None:
        """The index has it now, or it failed."""
        with self._lock:
            waits = self._waits.pop(name, None)
            self._queue.pop(name, None)
            self._asked.pop(name, None)
            if waits is not None:
                self._words.remove(waits.rows)
                self._characters -= len(waits.document.text)

    def chunks(self, document: Document, cut: Callable[[Document], Sequence[Chunk]]) -> Sequence[Chunk]:
        """Its passages, cut when first asked for."""
        waits = self._waits.get(document.name)
        if waits is None or waits.document is not document:
            return cut(document)
        if waits.chunks is None:
            waits.chunks = cut(document)
        return waits.chunks

    def view(self, tokens: Sequence[str], scope: Scope, limit: int) -> View:
        """What is waiting now, and which of it holds these words best; that is embedded first."""
        with self._lock:
            best: dict[str, None] = {}
            for row in self._words.best(tokens):
                name = self._document_of_row[row]
                if name not in best and scope.admits(name):
                    best[name] = None
                    if len(best) == limit:
                        break
            self._asked = {name: None for name in best if name in self._queue} | self._asked
            hidden = self._gone | self._waits.keys()
            return View(
                names=frozenset(self._waits),
                sources=tuple(waits.source for waits in self._waits.values()),
                gone=self._gone,
                unread=len(self._unread),
                edited=sum(name in self._known for name in self._unread),
                hidden=Counter(self._known[name].state for name in hidden if name in self._known),
                characters=self._characters,
                best=tuple(self._waits[name].document for name in best),
                frequencies={token: self._words.frequency(token) for token in tokens},
                rows=self._words.count,
            )


@dataclass(frozen=True, slots=True)
class View:
    """What was waiting at one moment. best: documents that hold the question's words, best first.

    names: documents that wait, in which the words were searched; sources: what is known of them.
    gone: names that the folder no longer has.
    unread: how many were not even read; edited: of how many of these the index has another version.
    hidden: of how many that wait or are gone the index has a version, by its state.
    frequencies: in how many of `rows` windows a token stands.
    """

    names: frozenset[str]
    sources: tuple[Source, ...]
    gone: frozenset[str]
    unread: int
    edited: int
    hidden: Mapping[DocumentState, int]
    characters: int
    best: tuple[Document, ...]
    frequencies: Mapping[str, int]
    rows: int

    @property
    def is_empty(self) -> bool:
        """Whether the index has everything."""
        return not (self.names or self.gone or self.unread)


def _windows(document: Document) -> Iterator[str]:
    """The text in pieces, cut at line ends where there are some, without what is never quoted."""
    position = 0
    for start, end in (*((span.start, span.end) for span in document.excluded), (len(document.text),) * 2):
        while position < start:
            cut = document.text.find("\n", min(position + _WINDOW, start), min(position + 2 * _WINDOW, start))
            stop = cut + 1 if cut >= 0 else min(position + 2 * _WINDOW, start)
            yield document.text[position:stop]
            position = stop
        position = max(position, end)
