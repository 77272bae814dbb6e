"""The seam behind which every embedding model stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Vector = npt.NDArray[np.float32]
Int8Matrix = npt.NDArray[np.int8]
Int64Vector = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EmbedderStamp:
    """What made a vector. Vectors of two stamps are never compared.

    model: the name a person knows ("all-MiniLM-L6-v2", "ollama:bge-m3:latest").
    weights: sha256 of the weights file, or the server's digest of the model.
    window: the most tokens it reads at once, special tokens included.
    runtime: what computes it ("onnxruntime-fp32", "sentence-transformers", "ollama 0.33.0").
    token_vectors: how token vectors are made of the model's own ("pca-1 384>128 int8 …"); "" for none.
    """

    model: str
    weights: str
    dimensions: int
    normalisation: str
    question_prompt: str
    passage_prompt: str
    window: int
    runtime: str
    token_vectors: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class TokenVectors:
    """The vectors of every token of n texts, for late interaction.

    Text i owns the rows offsets[i] to offsets[i + 1] of data. A row is a direction only: readers scale it to
    length one.
    offsets: shape (n + 1,), from 0 to the number of tokens. data: shape (tokens, dimensions).
    """

    offsets: Int64Vector
    data: Int8Matrix

    def rows(self, text: int) -> Int8Matrix:
        """The token vectors of one text, shape (its tokens, dimensions)."""
        return self.data[self.offsets[text] : self.offsets[text + 1]]


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

    @property
    def token_dimensions(self) -> int:
        """Width of the token vectors; 0 where the model gives none."""

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, special tokens included, without truncation."""

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (len(texts), stamp.dimensions), float32."""

    def embed_question(self, text: str) -> Vector:
        """A unit vector, shape (stamp.dimensions,), float32."""

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        """As `embed_passages`, and the token vectors of each text's own tokens, in order.

        Those of a prompt, special tokens and padding are left out; a text without any token of its own (an
        empty one) has those of its special tokens, so that none is without.
        Without token vectors their data has the shape (0, 0).
        """

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        """As `embed_question`, and the token vectors of the whole question: unit rows, float32.

        Without token vectors they have the shape (0, 0).
        """
