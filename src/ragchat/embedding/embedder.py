"""The seam behind which every embedding model stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbedderStamp:
    """What made a vector. Vectors of two stamps are never compared.

    model: the name a person knows ("all-MiniLM-L6-v2", "ollama:bge-m3:latest").
    weights: sha256 of the weights file, or the server's digest of the model.
    window: the most tokens it reads at once, special tokens included.
    runtime: what computes it ("onnxruntime-fp32", "sentence-transformers", "ollama 0.33.0").
    """

    model: str
    weights: str
    dimensions: int
    normalisation: str
    question_prompt: str
    passage_prompt: str
    window: int
    runtime: str


class Embedder(Protocol):
    """Turns texts into unit vectors.

    Safe to call from several threads. A text over the window is never cut silently: `embed_passages` raises
    ValueError (the chunker keeps passages within it), `embed_question` averages its windows.
    """

    @property
    def stamp(self) -> EmbedderStamp:
        """What made the vectors."""

    @property
    def window(self) -> int:
        """The most tokens it reads at once, special tokens included."""

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, special tokens included, without truncation."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (len(texts), stamp.dimensions), float32."""

    def embed_question(self, text: str) -> Vector:
        """A unit vector, shape (stamp.dimensions,), float32."""
