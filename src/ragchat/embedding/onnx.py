"""The built-in model in onnxruntime: one session, any number of threads, no torch.

The session computes each batch in the thread that asks for it, so several Python threads share one copy of
the weights and run side by side (measured: as fast as one session a thread, with half the memory).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragchat.embedding.embedder import EmbedderStamp, Matrix, Vector
from ragchat.embedding.texts import pieces, readable
from ragchat.embedding.vectors import mean_direction, unit_rows

if TYPE_CHECKING:
    import onnxruntime

MODEL_FILE = "model.onnx"
WEIGHTS_FILE = "model.bin"
TOKENIZER_FILE = "tokenizer.json"

# Padded tokens a batch: about four chunks or fifty questions, where larger batches stop paying.
_TOKENS_PER_BATCH = 640


class OnnxEmbedder:
    """Mean pooling over the token vectors, then unit length, as the model's own modules say."""

    def __init__(self, folder: Path, stamp: EmbedderStamp, *, threads: int) -> None:
        from tokenizers import Tokenizer

        self._stamp = stamp
        self._threads = threads
        self._session = open_session(folder / MODEL_FILE)
        self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        # The file asks for truncation to 128 and padding: neither may happen silently.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    @property
    def stamp(self) -> EmbedderStamp:
        """What made the vectors."""
        return self._stamp

    @property
    def window(self) -> int:
        """The most tokens it reads at once, special tokens included."""
        return self._stamp.window

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as a passage: special tokens and the passage prompt included, no truncation."""
        return len(self._tokens(self._stamp.passage_prompt + text))

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (len(texts), dimensions). Raises ValueError for a text over the window."""
        rows = [self._tokens(self._stamp.passage_prompt + text) for text in texts]
        for at, row in enumerate(rows):
            if len(row) > self.window:
                raise ValueError(f"text {at} has {len(row)} tokens; the window holds {self.window}")
        vectors = np.empty((len(rows), self._stamp.dimensions), dtype=np.float32)
        batches = list(_batches(rows))
        if self._threads == 1 or len(batches) < 2:
            for batch in batches:
                vectors[batch] = self._encode([rows[at] for at in batch])
            return vectors
        with ThreadPoolExecutor(min(self._threads, len(batches)), "embed") as pool:
            encoded = pool.map(lambda batch: self._encode([rows[at] for at in batch]), batches)
            for batch, part in zip(batches, encoded, strict=True):
                vectors[batch] = part
        return vectors

    def embed_question(self, text: str) -> Vector:
        """A unit vector, shape (dimensions,). Over the window: the average of its pieces."""
        prompt = self._stamp.question_prompt
        row = self._tokens(prompt + text)
        if len(row) <= self.window:
            vector: Vector = self._encode([row])[0]
            return vector
        parts = pieces(text, lambda piece: len(self._tokens(prompt + piece)) <= self.window)
        encoded = [self._encode([self._tokens(prompt + part)[: self.window]])[0] for part in parts]
        return mean_direction(encoded, model=self._stamp.model)

    def encode_exactly(self, text: str) -> Vector:
        """The unit vector of a text within the window as it stands, without any prompt."""
        vector: Vector = self._encode([self._tokens(text)])[0]
        return vector

    def _tokens(self, text: str) -> list[int]:
        # One text at a time: encoding a list starts the tokenizer's own threads on every core.
        tokens: list[int] = self._tokenizer.encode(readable(text)).ids
        return tokens

    def _encode(self, rows: Sequence[Sequence[int]]) -> Matrix:
        """Unit vectors of token rows, padded to the longest."""
        length = max(map(len, rows))
        tokens = np.zeros((len(rows), length), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for at, row in enumerate(rows):
            tokens[at, : len(row)] = row
            mask[at, : len(row)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        (token_vectors,) = self._session.run(None, inputs)
        weight = mask[:, None, :].astype(np.float32)
        # The sum over a text's tokens points where their mean does.
        return unit_rows(np.matmul(weight, token_vectors)[:, 0, :], model=self._stamp.model)


def open_session(model: Path) -> onnxruntime.InferenceSession:
    """A session over a model that was optimised when it was exported; it sends no telemetry."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def worker_count(threads: int) -> int:
    """Threads while indexing: as set, or (0) one fewer than the cores this process may use, at least one."""
    if threads > 0:
        return threads
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (usable or 1) - 1)


def _batches(rows: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Positions of rows, longest first (what is left to the end is short), by padded size."""
    batch: list[int] = []
    for at in sorted(range(len(rows)), key=lambda at: -len(rows[at])):
        if batch and (len(batch) + 1) * len(rows[batch[0]]) > _TOKENS_PER_BATCH:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
