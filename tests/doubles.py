"""Stand-ins that several rooms' tests share: an embedder without a model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from ragchat.embedding.embedder import EmbedderStamp, Int8Matrix, Matrix, TokenVectors, Vector
from ragchat.embedding.token_vectors import stacked

_WORD = re.compile(r"\w+")


class WordEmbedder:
    """Unit vectors of hashed words: texts that share words are near, others lie near distance 1.

    A token vector is one word's axis, so equal words have cosine 1 and others 0. `token_dimensions=0` gives
    none.
    """

    def __init__(
        self,
        *,
        name: str = "words",
        dimensions: int = 256,
        window: int = 256,
        token_dimensions: int = 128,
    ) -> None:
        self.token_dimensions = token_dimensions
        self.stamp = EmbedderStamp(
            model=name,
            weights=hashlib.sha256(name.encode()).hexdigest(),
            dimensions=dimensions,
            normalisation="unit",
            question_prompt="",
            passage_prompt="",
            window=window,
            runtime="test",
            token_vectors=f"words {token_dimensions}" if token_dimensions else "",
        )
        self.texts_embedded: list[str] = []

    @property
    def window(self) -> int:
        return self.stamp.window

    def count_tokens(self, text: str) -> int:
        return len(_WORD.findall(text)) + 2

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        self.texts_embedded.extend(texts)
        vectors = [self._vector(text) for text in texts]
        return np.stack(vectors) if vectors else np.zeros((0, self.stamp.dimensions), dtype=np.float32)

    def embed_question(self, text: str) -> Vector:
        return self._vector(text)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        tokens = [self._token_rows(text) for text in texts]
        return self.embed_passages(texts), stacked(tokens, self.token_dimensions)

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        return self.embed_question(text), (self._token_rows(text) / 127).astype(np.float32)

    def _token_rows(self, text: str) -> Int8Matrix:
        words = _WORD.findall(text.casefold()) if self.token_dimensions else []
        rows = np.zeros((len(words), self.token_dimensions), dtype=np.int8)
        for row, word in zip(rows, words, strict=True):
            digest = hashlib.sha256(word.encode()).digest()
            row[int.from_bytes(digest[4:8], "big") % self.token_dimensions] = 127
        return rows

    def _vector(self, text: str) -> Vector:
        vector = np.full(self.stamp.dimensions, 1e-3, dtype=np.float32)
        for word in _WORD.findall(text.casefold()):
            digest = hashlib.sha256(word.encode()).digest()
            vector[int.from_bytes(digest[:4], "big") % self.stamp.dimensions] += 1.0
        unit: Vector = vector / np.linalg.norm(vector)
        return unit
