"""What every backend keeps, in the form it is kept in, and what it may be given.

No storage is known here: a text is compressed, token vectors are bytes, a document and its chunks fit
together.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence

import numpy as np

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document, Locator
from ragchat.embedding.embedder import Int8Matrix, Matrix, TokenVectors, Vector
from ragchat.errors import IndexCorrupt
from ragchat.index.source import Source
from ragchat.index.view import are_unit

_REBUILD = "ragchat index --rebuild"


def text_digest(text: str) -> str:
    """What a chunk's text is known by: its sha256, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def stacked(vectors: Sequence[Vector]) -> Matrix:
    """Vectors as the rows of a matrix."""
    return np.stack(vectors) if vectors else np.zeros((0, 0), np.float32)


def stacked_tokens(matrices: Sequence[Int8Matrix | None]) -> TokenVectors | None:
    """The token vectors of several texts; None when any has none."""
    whole = [matrix for matrix in matrices if matrix is not None]
    if len(whole) < len(matrices) or not whole:
        return None
    offsets = np.concatenate([[0], np.cumsum([len(matrix) for matrix in whole])]).astype(np.int64)
    return TokenVectors(offsets, np.concatenate(whole))


def pack_tokens(tokens: Int8Matrix) -> bytes:
    """One chunk's token vectors: their width in four bytes, then the rows."""
    return int(tokens.shape[1]).to_bytes(4, "little") + tokens.astype(np.int8).tobytes()


def unpack_tokens(packed: bytes) -> Int8Matrix:
    """What `pack_tokens` packed. Raises IndexCorrupt."""
    width = int.from_bytes(packed[:4], "little")
    try:
        matrix: Int8Matrix = np.frombuffer(packed, dtype=np.int8, offset=4)
        return matrix.reshape(-1, width) if len(matrix) else matrix.reshape(0, width)
    except ValueError as error:
        raise IndexCorrupt("token vectors in the index are damaged", hint=_REBUILD) from error


def check(
    document: Document,
    source: Source,
    chunks: Sequence[Chunk],
    vectors: Matrix,
    tokens: TokenVectors | None,
    dimensions: int,
) -> None:
    """Raise ValueError for what does not fit together: names, shapes, lengths, a chunk that is no slice."""
    if source.name != document.name:
        raise ValueError(f"the source of {document.name!r} is named {source.name!r}")
    if len(vectors) != len(chunks) or (chunks and vectors.shape[1] != dimensions):
        raise ValueError(f"{document.name!r}: vectors of shape {vectors.shape} for {len(chunks)} chunks")
    if not are_unit(vectors):
        raise ValueError(f"{document.name!r}: vectors are not of unit length")
    if tokens is not None and len(tokens.offsets) != len(chunks) + 1:
        raise ValueError(f"{document.name!r}: token vectors of other texts than its {len(chunks)} chunks")
    for chunk in chunks:
        if (chunk.document, chunk.title) != (document.name, document.title):
            raise ValueError(f"{document.name!r} is given a chunk of {chunk.document!r} ({chunk.title!r})")
        if document.text[chunk.context_start : chunk.end] != chunk.lead + chunk.content:
            raise ValueError(f"{document.name!r}: a chunk is no slice of it at {chunk.start}-{chunk.end}")


def pack_text(text: str) -> bytes:
    """Compress a document's text for keeping."""
    return zlib.compress(text.encode())


def storable(text: str) -> str:
    """A reason may quote what is no Unicode, the bytes of a path say; it is shown escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def unpack_text(packed: bytes) -> str:
    """What `pack_text` packed, exactly. Raises IndexCorrupt."""
    try:
        return zlib.decompress(packed).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise IndexCorrupt(f"a document's text in the index is damaged: {error}", hint=_REBUILD) from error


def pack_places(document: Document) -> tuple[str, str]:
    """The document's locators and its gaps, each as JSON."""
    places = [[place.kind, place.value, place.start, place.end] for place in document.locators]
    return json.dumps(places, separators=(",", ":")), json.dumps(document.gaps)


def pack_marks(document: Document) -> tuple[str, str]:
    """The document's tags as JSON, and its day."""
    return json.dumps(document.tags), document.dated


def unpack_tags(packed: str) -> tuple[str, ...]:
    """The tags that `pack_marks` packed."""
    return tuple(json.loads(packed)) if packed != "[]" else ()


def unpack_locators(packed: str) -> tuple[Locator, ...]:
    """The locators that `pack_places` packed."""
    return tuple(Locator(*place) for place in json.loads(packed))
