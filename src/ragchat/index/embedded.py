"""Vectors of texts by the digests of the texts, so that no text is embedded twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ragchat.embedding.embedder import Embedder, Int8Matrix, Matrix, TokenVectors, Vector
from ragchat.index.protocol import Index
from ragchat.index.view import are_unit


class EmbeddedTexts:
    """Each text's vector, and its tokens' vectors where the embedder gives some.

    token_dimensions: width of the token vectors; 0 where there are none.
    """

    def __init__(self, token_dimensions: int = 0) -> None:
        self.token_dimensions = token_dimensions
        self._vectors: dict[str, Vector] = {}
        self._tokens: dict[str, Int8Matrix] = {}

    def __contains__(self, digest: object) -> bool:
        return digest in self._vectors and (not self.token_dimensions or digest in self._tokens)

    def take(self, other: EmbeddedTexts, digests: Iterable[str]) -> None:
        """What the other has of these."""
        for digest in digests:
            if digest in other:
                self._vectors[digest] = other._vectors[digest]
                if digest in other._tokens:
                    self._tokens[digest] = other._tokens[digest]

    def take_indexed(self, index: Index, digests: Sequence[str]) -> None:
        """What the index has of these."""
        self._vectors.update(index.vectors_of_texts(digests))
        if self.token_dimensions:
            self._tokens.update(index.token_vectors_of_texts(digests))

    def take_document(self, index: Index, name: str) -> None:
        """What the index has of this document."""
        self._vectors.update(index.vectors_of_document(name))
        if self.token_dimensions:
            self._tokens.update(index.token_vectors_of_document(name))

    def embed(self, embedder: Embedder, texts: Mapping[str, str]) -> None:
        """Embed texts, given by their digests. Raises ValueError for vectors that are not of unit length."""
        tokens: TokenVectors | None = None
        if self.token_dimensions:
            vectors, tokens = embedder.embed_passages_with_tokens(list(texts.values()))
        else:
            vectors = embedder.embed_passages(list(texts.values()))
        shape = (len(texts), embedder.stamp.dimensions)
        if vectors.shape != shape or not are_unit(vectors):
            raise ValueError(f"the embedder gave no unit vectors of shape {shape}")
        for at, digest in enumerate(texts):
            self._vectors[digest] = vectors[at]
            if tokens is not None:
                self._tokens[digest] = tokens.rows(at)

    def digests(self) -> set[str]:
        """Of the texts it has vectors of."""
        return set(self._vectors)

    def matrix(self, digests: Sequence[str]) -> Matrix:
        """Their vectors, shape (len(digests), dimensions)."""
        if not digests:
            return np.zeros((0, 0), dtype=np.float32)
        return np.stack([self._vectors[digest] for digest in digests])

    def tokens(self, digests: Sequence[str]) -> list[Int8Matrix]:
        """Their tokens' vectors, each of shape (tokens, width)."""
        return [self._tokens[digest] for digest in digests]

    def token_vectors(self, digests: Sequence[str]) -> TokenVectors | None:
        """The same as one value; None where the embedder gives none."""
        if not self.token_dimensions:
            return None
        rows = self.tokens(digests)
        offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        data = np.concatenate(rows) if rows else np.zeros((0, self.token_dimensions), dtype=np.int8)
        return TokenVectors(offsets, data)
