"""Any embedder without its token vectors, for an index a tenth of the size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ragchat.embedding.embedder import Embedder, Matrix, TokenVectors, Vector
from ragchat.embedding.token_vectors import none_of


class WithoutTokens:
    """The same text vectors under a stamp that tells of no token vectors."""

    token_dimensions = 0

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.stamp = replace(embedder.stamp, token_vectors="")

    @property
    def window(self) -> int:
        """As the embedder's."""
        return self._embedder.window

    def count_tokens(self, text: str) -> int:
        """As the embedder's."""
        return self._embedder.count_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """As the embedder's."""
        return self._embedder.embed_passages(texts)

    def embed_question(self, text: str) -> Vector:
        """As the embedder's."""
        return self._embedder.embed_question(text)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        """As `embed_passages`, and no token vectors."""
        return self._embedder.embed_passages(texts), none_of(len(texts))

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        """As `embed_question`, and no token vectors."""
        return self._embedder.embed_question(text), np.zeros((0, 0), dtype=np.float32)
