"""What answers a question's search, and how it counts what it could not see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Protocol

from ragchat.answering.coverage import Changes
from ragchat.index.protocol import Scope
from ragchat.index.source import Source
from ragchat.retrieval.trace import RetrievalTrace

EVERYWHERE = Scope()
NOBODY: frozenset[int] = frozenset()


class Retrieves(Protocol):
    """What the assistant needs of a `Retriever`."""

    def sources(self) -> Mapping[str, Source]:
        """Every file that a filter may choose, by name."""

    def retrieve(
        self, question: str, scope: Scope = EVERYWHERE, admit: AbstractSet[int] = NOBODY
    ) -> RetrievalTrace:
        """Search and judge; see `Retriever.retrieve`."""


class Covering:
    """Retrieves, and counts what the index lacks of the folder as it is now."""

    def __init__(self, retriever: Retrieves, changes: Callable[[], Changes]) -> None:
        self._retriever = retriever
        self._changes = changes

    def sources(self) -> Mapping[str, Source]:
        """Of what it retrieves from."""
        return self._retriever.sources()

    def retrieve(
        self, question: str, scope: Scope = EVERYWHERE, admit: AbstractSet[int] = NOBODY
    ) -> RetrievalTrace:
        """The trace with its whole coverage."""
        trace, changes = self._retriever.retrieve(question, scope, admit), self._changes()
        coverage = trace.coverage  # what is of another stamp is counted already
        changed = max(0, changes.changed - coverage.stale)
        coverage = replace(coverage, changed=changed, pending=changes.new)
        return replace(trace, coverage=coverage)
