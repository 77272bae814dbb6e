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

from ragchat.answering.server import ModelServer
from ragchat.chunking.chunk import Chunk, TokenCounter
from ragchat.chunking.context import LONGEST, with_context
from ragchat.chunking.options import CONTEXT_VERSION
from ragchat.documents.document import Document
from ragchat.errors import StorageFailed
from ragchat.index.contexts import ContextCosts
from ragchat.paths import make_private_dir

CONTEXTS_FILE = "contexts.sqlite3"
_AROUND = 600
"""Characters of the note's beginning, and before and after the passage, that the model reads."""
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
                context = _read(kept, key)
                if context is None:
                    context = self._written(question, cancel)
                    if context is None:
                        return None
                    _keep(kept, key, context)
                elif key not in self._counted:
                    self._costs = replace(self._costs, kept=self._costs.kept + 1)
                self._counted.add(key)
                made.append(with_context(chunk, context, counter))
                on_each()
        return made

    def _written(self, question: str, cancel: threading.Event) -> str | None:
        """What the model says, on one line; None after a cancel."""
        if self._think is None:
            # A model that reasons first would take its time for every passage.
            self._think = (False if self._server.describe(self._model).thinks else None,)
        started = time.monotonic()
        messages = [{"role": "system", "content": _TASK}, {"role": "user", "content": question}]
        said, prompt_tokens, answer_tokens, done = "", 0, 0, False
        for delta in self._server.chat(self._model, messages, _OPTIONS, cancel, think=self._think[0]):
            said += delta.content
            if delta.done:
                done = True
                prompt_tokens, answer_tokens = delta.prompt_tokens or 0, delta.answer_tokens or 0
        if not done:
            return None
        costs = self._costs
        self._costs = ContextCosts(
            costs.written + 1,
            costs.kept,
            costs.prompt_tokens + prompt_tokens,
            costs.answer_tokens + answer_tokens,
            costs.seconds + time.monotonic() - started,
        )
        readable = "".join(letter if letter.isprintable() else " " for letter in said)
        return " ".join(readable.split())[: 2 * LONGEST]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _question(document: Document, chunk: Chunk) -> str:
    """Title, place, the note's beginning, and the passage between what surrounds it."""
    text = document.text
    before = text[max(0, chunk.start - _AROUND) : chunk.start]
    return json.dumps(
        {
            "note": document.title,
            "section": " > ".join(chunk.section),
            "beginning of the note": text[:_AROUND],
            "before the passage": before,
            "passage": chunk.content,
            "after the passage": text[chunk.end : chunk.end + _AROUND],
        },
        ensure_ascii=False,
    )


def _open(data_dir: Path) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(make_private_dir(data_dir) / CONTEXTS_FILE, timeout=30.0)
        connection.execute("CREATE TABLE IF NOT EXISTS contexts (question TEXT PRIMARY KEY, context TEXT)")
    except (sqlite3.Error, OSError) as error:
        raise _failed(data_dir, error) from error
    return connection


def _read(kept: sqlite3.Connection, key: str) -> str | None:
    found = kept.execute("SELECT context FROM contexts WHERE question = ?", (key,)).fetchone()
    return None if found is None else str(found[0])


def _keep(kept: sqlite3.Connection, key: str, context: str) -> None:
    try:
        with kept:
            kept.execute("INSERT OR REPLACE INTO contexts VALUES (?, ?)", (key, context))
    except sqlite3.Error as error:
        raise _failed(Path(CONTEXTS_FILE), error) from error


def _failed(path: Path, error: Exception) -> StorageFailed:
    return StorageFailed(
        f"contexts cannot be kept in {path}: {error}", hint="is the disk full? ragchat paths names the folder"
    )
