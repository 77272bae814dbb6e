"""What an exported model consists of: known to the program that exports it and to the one that opens it."""

from __future__ import annotations

from ragchat.embedding.embedder import EmbedderStamp
from ragchat.embedding.packaged import PackagedModel
from ragchat.embedding.token_vectors import scheme
from ragchat.settings import EmbeddingSettings

EXPORT_FORMAT = 3
"""Raised whenever the exported model gives other outputs; exports of other formats are never opened."""

MODEL_FILE = "model.onnx"
WEIGHTS_FILE = "model.bin"
TOKENIZER_FILE = "tokenizer.json"
PIECES_FILE = "pieces.npy"
SCORES_FILE = "scores.npy"
"""The vocabulary once more, sorted, where it is too large to be read for one question."""
MANIFEST_FILE = "export.json"
"""Written last: sizes of the files, and the vectors of the probe as they were when it was made."""

TEXT_VECTORS = "text_vectors"
"""Output: the sum over each text's tokens, shape (texts, dimensions)."""
TOKEN_VECTORS = "token_vectors"
"""Output: each token's projection, shape (texts, longest text, token dimensions)."""

PROBE_TEXT = "Where do I find the key to the cellar, and who has the other one?"
SMALLEST_COSINE = 0.9999
"""Between the exported model's vectors and the original's, and between those of today and of its making."""


def packaged_stamp(model: PackagedModel, settings: EmbeddingSettings) -> EmbedderStamp:
    """The stamp of a packaged model; known without loading anything."""
    return EmbedderStamp(
        model=model.name,
        weights=model.weights,
        dimensions=model.dimensions,
        normalisation="unit",
        question_prompt=settings.question_prompt or model.question_prompt,
        passage_prompt=settings.passage_prompt or model.passage_prompt,
        window=model.window,
        runtime=f"onnxruntime-{settings.precision}",
        token_vectors=scheme(model.dimensions),
    )
