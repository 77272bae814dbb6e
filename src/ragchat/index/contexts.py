"""The seam behind which the contexts of passages are written while a folder is indexed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragchat.chunking.chunk import Chunk, TokenCounter
from ragchat.documents.document import Document


@dataclass(frozen=True, slots=True)
class ContextCosts:
    """What contexts have cost. kept: taken from those written before. seconds: spent in writing.

    without: passages for which the model said nothing, or not in time; they are searched by their own words.
    """

    written: int = 0
    kept: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0
    without: int = 0


class Contexts(Protocol):
    """Puts a model's context before passages. Used by one thread."""

    @property
    def costs(self) -> ContextCosts:
        """So far."""

    def add(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        counter: TokenCounter,
        on_each: Callable[[], None],
        cancel: threading.Event,
    ) -> Sequence[Chunk] | None:
        """The chunks with their contexts; None after a cancel. What was written is kept for the next time.

        on_each: told after every one. Raises BackendError where the model server fails.
        """
