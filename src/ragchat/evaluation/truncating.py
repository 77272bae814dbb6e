"""An encoder as tools use it that do not count tokens: what lies beyond its window is not read.

Only to measure what that costs; ragchat itself never cuts a text silently.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from ragchat.embedding.embedder import Embedder, EmbedderStamp, Matrix, TokenVectors, Vector

_ENDLESS = 10**9


class Truncating:
    """Implements `Embedder`: any length is taken, the beginning is read. Questions are read whole."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.stamp: EmbedderStamp = replace(embedder.stamp, runtime=f"{embedder.stamp.runtime}, truncating")

    @property
    def window(self) -> int:
        """No passage is too long; `stamp.window` tells what is read of it."""
        return _ENDLESS

    @property
    def token_dimensions(self) -> int:
        """As the encoder's own."""
        return self._embedder.token_dimensions

    def count_tokens(self, text: str) -> int:
        """Tokens of the whole text."""
        return self._embedder.count_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Vectors of what is read of each text."""
        return self._embedder.embed_passages([self._beginning(text) for text in texts])

    def embed_question(self, text: str) -> Vector:
        """As the encoder's own."""
        return self._embedder.embed_question(text)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        """The same with token vectors of what is read."""
        return self._embedder.embed_passages_with_tokens([self._beginning(text) for text in texts])

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        """As the encoder's own."""
        return self._embedder.embed_question_with_tokens(text)

    def _beginning(self, text: str) -> str:
        """The longest beginning of the text that the window holds."""

        def tokens(length: int) -> int:
            return self._embedder.count_tokens(text[:length])

        # A section may be a book: no more of it is counted than is likely to fit.
        window = self._embedder.window
        most = window
        while most < len(text) and tokens(most) <= window:
            most *= 2
        if most >= len(text) and tokens(len(text)) <= window:
            return text
        return text[: bisect_right(range(1, min(most, len(text))), window, key=tokens)]
