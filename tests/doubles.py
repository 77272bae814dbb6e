"""Stand-ins that several rooms' tests share: an embedder without a model."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from ragchat.embedding.embedder import EmbedderStamp, Matrix, Vector

_WORD = re.compile(r"\w+")


class WordEmbedder:
    """Unit vectors of hashed words: texts that share words are near, others lie near distance 1."""

    def __init__(self, *, name: str = "words", dimensions: int = 256, window: int = 256) -> None:
        self.stamp = EmbedderStamp(
            model=name,
            weights=hashlib.sha256(name.encode()).hexdigest(),
            dimensions=dimensions,
            normalisation="unit",
            question_prompt="",
            passage_prompt="",
            window=window,
            runtime="test",
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

    def _vector(self, text: str) -> Vector:
        vector = np.full(self.stamp.dimensions, 1e-3, dtype=np.float32)
        for word in _WORD.findall(text.casefold()):
            digest = hashlib.sha256(word.encode()).digest()
            vector[int.from_bytes(digest[:4], "big") % self.stamp.dimensions] += 1.0
        unit: Vector = vector / np.linalg.norm(vector)
        return unit
