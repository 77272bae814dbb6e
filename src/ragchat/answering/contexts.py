"""Contextual retrieval: a model writes one sentence before each passage, at index time.

What was written is kept beside the folder's index under a digest of everything that the model was asked, so
that an edit costs only the passages whose surroundings it touched, and an interrupted run goes on where it
was. The idea: Anthropic, "Introducing Contextual Retrieval" (2024).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from ragchat.answering.server import Delta, ModelServer
from ragchat.chunking.chunk import Chunk, TokenCounter
from ragchat.chunking.context import LONGEST, with_context
from ragchat.chunking.options import CONTEXT_VERSION
from ragchat.documents.document import Document
from ragchat.errors import BackendError, StorageFailed
from ragchat.index.contexts import ContextCosts
from ragchat.paths import make_private_dir

CONTEXTS_FILE = "contexts.sqlite3"
_AROUND = 600
"""Characters of the note's beginning, and before and after the passage, that the model reads."""
_SECONDS = 300.0
"""For one context; loading a large model takes minutes."""
_CHARACTERS = 4_000
"""Of answer and reasoning together; `num_predict` ends them far earlier on a server that heeds it."""
_NONE_IN_A_ROW = 3
"""After so many passages without a context the model is not asked again in this run."""
_DAMAGE = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""Also for a table of other columns: the first is SQLite's own name for what makes no sense."""
_OPTIONS: Mapping[str, float | int] = {"temperature": 0, "seed": 0, "num_predict": 80, "num_ctx": 4096}
_TASK = (
    "You describe passages of a person's notes for a search index. Answer with one sentence of at most 25 "
    "words, in the language of the note: what the note is about, and who or what the passage's words such as "
    "this, it, they point at. Say only what stands in the note. No introduction, no quotation marks."
)


class ContextWriter:
    """Implements `Contexts`: one question to the model for each passage that was never asked about."""

    def __init__(self, server: ModelServer, model: str, data_dir: Path) -> None:
        self._server, self._model = server, model
        self._data_dir = data_dir
        self._costs = ContextCosts()
        self._counted: set[str] = set()
        self._think: tuple[bool | None] | None = None
        self._none_in_a_row = 0

    @property
    def costs(self) -> ContextCosts:
        """So far."""
        return self._costs

    def add(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        counter: TokenCounter,
        on_each: Callable[[], None],
        cancel: threading.Event,
    ) -> Sequence[Chunk] | None:
        """As `Contexts.add`. Raises BackendError, StorageFailed."""
        made: list[Chunk] = []
        with closing(_open(self._data_dir)) as kept:
            for chunk in chunks:
                question = _question(document, chunk)
                key = _digest(f"{CONTEXT_VERSION}\n{self._model}\n{_TASK}\n{question}")
                context: str | None = _read(kept, key, self._data_dir)
                if context:
                    self._costs = replace(self._costs, kept=self._costs.kept + (key not in self._counted))
                else:
                    context = self._written(question, cancel)
                    if context is None:
                        return None
                    if context:
                        _keep(kept, key, context, self._data_dir)
                self._counted.add(key)
                made.append(with_context(chunk, context, counter))
                on_each()
        return made

    def _written(self, question: str, cancel: threading.Event) -> str | None:
        """What the model says, on one line; "" where it says nothing in time, None after a cancel."""
        if self._think is None:
            # A model that reasons first would take its time for every passage.
            self._think = (False if self._server.describe(self._model).thinks else None,)
        started = time.monotonic()
        messages = [{"role": "system", "content": _TASK}, {"role": "user", "content": question}]
        said, length, last = "", 0, Delta()
        for last in self._server.chat(self._model, messages, _OPTIONS, cancel, think=self._think[0]):
            said += last.content
            length += len(last.content) + len(last.thinking)
            if length > _CHARACTERS or time.monotonic() - started > _SECONDS:
                break
        if cancel.is_set() and not last.done:
            return None
        readable = "".join(letter if letter.isprintable() else " " for letter in said)
        context = " ".join(readable.split())[: 2 * LONGEST]
        self._count(last, time.monotonic() - started, written=bool(context))
        return context

    def _count(self, last: Delta, seconds: float, *, written: bool) -> None:
        """Raises BackendError when too many passages in a row went without."""
        costs = self._costs
        self._costs = ContextCosts(
            costs.written + written,
            costs.kept,
            costs.prompt_tokens + (last.prompt_tokens or 0),
            costs.answer_tokens + (last.answer_tokens or 0),
            costs.seconds + seconds,
            costs.without + (not written),
        )
        self._none_in_a_row = 0 if written else self._none_in_a_row + 1
        if self._none_in_a_row >= _NONE_IN_A_ROW:
            raise BackendError(
                f"{self._model} wrote nothing for {_NONE_IN_A_ROW} passages in a row "
                f"(it has {_OPTIONS['num_predict']} tokens and {_SECONDS:.0f} s for each)",
                hint="chunking.context needs a small model that answers without reasoning first",
            )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _question(document: Document, chunk: Chunk) -> str:
    """Title, place, the note's beginning, and the passage between what surrounds it."""
    text = document.text
    before = text[max(0, chunk.start - _AROUND) : chunk.start]
    return json.dumps(
        {
            # What all passages of a note share comes first: a server reads the same beginning only once.
            "note": document.title,
            "beginning of the note": text[:_AROUND],
            "section": " > ".join(chunk.section),
            "before the passage": before,
            "passage": chunk.content,
            "after the passage": text[chunk.end : chunk.end + _AROUND],
        },
        ensure_ascii=False,
    )


def _open(data_dir: Path) -> sqlite3.Connection:
    try:
        path = make_private_dir(data_dir) / CONTEXTS_FILE
        connection = sqlite3.connect(path, timeout=30.0)
    except (sqlite3.Error, OSError) as error:
        raise _failed(data_dir, error) from error
    try:
        connection.execute("CREATE TABLE IF NOT EXISTS contexts (question TEXT PRIMARY KEY, context TEXT)")
    except sqlite3.Error as error:
        connection.close()
        raise _failed(data_dir, error) from error
    return connection


def _read(kept: sqlite3.Connection, key: str, data_dir: Path) -> str:
    """The context, "" where none was written."""
    try:
        found = kept.execute("SELECT context FROM contexts WHERE question = ?", (key,)).fetchone()
    except sqlite3.Error as error:
        raise _failed(data_dir, error) from error
    return found[0] if found and isinstance(found[0], str) else ""


def _keep(kept: sqlite3.Connection, key: str, context: str, data_dir: Path) -> None:
    try:
        with kept:
            kept.execute("INSERT OR REPLACE INTO contexts VALUES (?, ?)", (key, context))
    except sqlite3.Error as error:
        raise _failed(data_dir, error) from error


def _failed(data_dir: Path, error: Exception) -> StorageFailed:
    path = data_dir / CONTEXTS_FILE
    # A full or locked disk has its own code; none means what the file holds (text that is no UTF-8).
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if isinstance(error, sqlite3.Error) and code in _DAMAGE:
        return StorageFailed(
            f"the contexts kept in {path} are damaged: {error}",
            hint="move that file away and run ragchat index: they are written again",
        )
    return StorageFailed(
        f"contexts cannot be kept in {path}: {error}",
        hint="check that folder and its disk, or set RAGCHAT_DATA_DIR to another one",
    )
