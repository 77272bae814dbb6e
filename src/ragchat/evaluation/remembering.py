"""An embedder that embeds no text twice: what another index of the same folder holds is taken from there.

Ways of cutting share many passages (short notes are one passage under most of them), and embedding is nearly
all that an index costs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ragchat.embedding.embedder import Embedder, EmbedderStamp, Matrix, TokenVectors, Vector
from ragchat.index.embedded import EmbeddedTexts
from ragchat.index.packing import text_digest
from ragchat.index.protocol import Index


class Remembering:
    """Implements `Embedder` over another one. indexes: those under the same stamp are looked into."""

    def __init__(self, embedder: Embedder, indexes: Sequence[Index]) -> None:
        self._embedder = embedder
        self._indexes = [index for index in indexes if index.stamp and index.stamp.embedder == embedder.stamp]

    @property
    def stamp(self) -> EmbedderStamp:
        """As the encoder's own."""
        return self._embedder.stamp

    @property
    def window(self) -> int:
        """As the encoder's own."""
        return self._embedder.window

    @property
    def token_dimensions(self) -> int:
        """As the encoder's own."""
        return self._embedder.token_dimensions

    def count_tokens(self, text: str) -> int:
        """As the encoder's own."""
        return self._embedder.count_tokens(text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Known vectors and new ones; only these are computed."""
        return self._found(texts, 0)[0]

    def embed_question(self, text: str) -> Vector:
        """As the encoder's own."""
        return self._embedder.embed_question(text)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        """The same with token vectors."""
        if not self.token_dimensions:
            return self._embedder.embed_passages_with_tokens(texts)
        vectors, tokens = self._found(texts, self.token_dimensions)
        assert tokens is not None
        return vectors, tokens

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        """As the encoder's own."""
        return self._embedder.embed_question_with_tokens(text)

    def _found(self, texts: Sequence[str], token_dimensions: int) -> tuple[Matrix, TokenVectors | None]:
        digests = [text_digest(text) for text in texts]
        found = EmbeddedTexts(token_dimensions)
        for index in self._indexes:
            found.take_indexed(index, [digest for digest in digests if digest not in found])
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in found}
        if missing:
            found.embed(self._embedder, missing)
        return found.matrix(digests), found.token_vectors(digests)
