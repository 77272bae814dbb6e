"""The front door for questions: question -> stream of events."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from ragchat.answering.events import AnswerEvent
from ragchat.index.protocol import Scope
from ragchat.retrieval.trace import RetrievalTrace

EVERYWHERE = Scope()


class Assistant:
    """Answers from one folder's index. Safe to call from any thread, one question at a time."""

    def retrieve(self, question: str, *, scope: Scope = EVERYWHERE) -> RetrievalTrace:
        """Search and judge; asks no model. Raises IndexMissing, IndexStale, EmbedderUnavailable."""
        raise NotImplementedError

    def ask(
        self,
        question: str,
        *,
        scope: Scope = EVERYWHERE,
        model: str | None = None,
        admit: frozenset[int] = frozenset(),
        cancel: threading.Event | None = None,
    ) -> Iterator[AnswerEvent]:
        """Events of one question; the last is always `Finished`.

        model: asked for by name, so that a missing one is a failed answer (exit 4); None takes the folder's
            remembered or configured one, else an installed one, else quotation answers.
        admit: chunk ids that the user lets through the gate by hand (a literal match on offer).
        cancel: stops at once and keeps the partial answer.
        """
        raise NotImplementedError
