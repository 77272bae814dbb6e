"""A packaged model in onnxruntime: one session, any number of threads, no torch.

The session computes each batch in the thread that asks for it, so several Python threads share one copy of
the weights and run side by side (measured: as fast as one session a thread, with half the memory).

It begins with the weights as they lie in the file, mapped and not packed for the processor: that opens in 20
milliseconds instead of 70 and is all that one question needs. When more is asked, they are packed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ragchat.embedding.embedder import EmbedderStamp, Int8Matrix, Matrix, TokenVectors, Vector
from ragchat.embedding.exported import MODEL_FILE, TEXT_VECTORS, TOKEN_VECTORS
from ragchat.embedding.texts import pieces, readable
from ragchat.embedding.token_vectors import stacked, to_bytes, token_dimensions
from ragchat.embedding.tokenizing import TextTokenizer
from ragchat.embedding.vectors import mean_direction, unit_rows

if TYPE_CHECKING:
    import onnxruntime

_Rows = Sequence[Sequence[int]]
_Result = TypeVar("_Result")

# Padded tokens a batch: about two chunks or twenty questions, which the processor's caches hold.
_TOKENS_PER_BATCH = 256
# Packing takes as long as these take longer without it.
_TOKENS_UNTIL_PACKING = 1000
# [SEP] or </s>
_TOKENS_BEHIND = 1


class OnnxEmbedder:
    """Mean pooling over the token vectors, then unit length, as the model's own modules say."""

    def __init__(self, folder: Path, stamp: EmbedderStamp, *, threads: int, alone: bool) -> None:
        """alone: no text shares a batch (in int8 all of a batch is rounded by one scale)."""
        self._tokens_per_batch = 0 if alone else _TOKENS_PER_BATCH
        self._stamp = stamp
        self._threads = threads
        self._model = folder / MODEL_FILE
        self._session = open_session(self._model, packed=False)
        self._tokens_until_packing = _TOKENS_UNTIL_PACKING
        self._packing = threading.Lock()
        self._tokenizer = TextTokenizer(folder)

    @property
    def stamp(self) -> EmbedderStamp:
        """What made the vectors."""
        return self._stamp

    @property
    def window(self) -> int:
        """The most tokens it reads at once, special tokens included."""
        return self._stamp.window

    @property
    def token_dimensions(self) -> int:
        """Width of the token vectors."""
        return token_dimensions(self._stamp.dimensions)

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as a passage: special tokens and the passage prompt included, no truncation."""
        return len(self._tokens(self._stamp.passage_prompt + text))

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (len(texts), dimensions). Raises ValueError for a text over the window."""
        return self._stack(self._of_passages(texts, self._text_vectors))

    def embed_question(self, text: str) -> Vector:
        """A unit vector, shape (dimensions,). Over the window: the average of its pieces."""
        return self._mean([self._text_vectors([row])[0] for row in self._question_rows(text)])

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        """As `embed_passages`, and every token's vector. Raises ValueError for a text over the window."""
        ahead = self._tokens_ahead(self._stamp.passage_prompt)
        pairs = self._of_passages(texts, lambda rows: self._text_and_token_vectors(rows, ahead))
        tokens = stacked([tokens for _, tokens in pairs], self.token_dimensions)
        return self._stack([vector for vector, _ in pairs]), tokens

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        """As `embed_question`, and every token's unit vector, shape (tokens, token_dimensions)."""
        ahead = self._tokens_ahead(self._stamp.question_prompt)
        pairs = [self._text_and_projected(row, ahead) for row in self._question_rows(text)]
        tokens = unit_rows(np.concatenate([tokens for _, tokens in pairs]), model=self._stamp.model)
        return self._mean([vector for vector, _ in pairs]), tokens

    def encode_exactly(self, text: str) -> tuple[Vector, Matrix]:
        """Text and token vectors, unit length, of a text within the window, without any prompt."""
        vector, tokens = self._text_and_projected(self._tokens(text), self._tokens_ahead(""))
        return vector, unit_rows(tokens, model=self._stamp.model)

    def _of_passages(
        self, texts: Sequence[str], encode: Callable[[_Rows], Sequence[_Result]]
    ) -> list[_Result]:
        """What `encode` gives for each text, in their order; batches go to as many threads as there are."""
        rows = [self._tokens(self._stamp.passage_prompt + text) for text in texts]
        for at, row in enumerate(rows):
            if len(row) > self.window:
                raise ValueError(f"text {at} has {len(row)} tokens; the window holds {self.window}")
        self._expect(sum(map(len, rows)))
        batches = list(_batches(rows, self._tokens_per_batch))
        with ThreadPoolExecutor(max(1, min(self._threads, len(batches))), "embed") as pool:
            encoded = list(pool.map(lambda batch: encode([rows[at] for at in batch]), batches))
        results = {
            at: result
            for batch, part in zip(batches, encoded, strict=True)
            for at, result in zip(batch, part, strict=True)
        }
        return [results[at] for at in range(len(texts))]

    def _question_rows(self, text: str) -> list[list[int]]:
        """The question's tokens; over the window: those of its pieces, each with the prompt."""
        prompt = self._stamp.question_prompt
        row = self._tokens(prompt + text)
        self._expect(len(row))
        if len(row) <= self.window:
            return [row]
        parts = pieces(text, lambda piece: len(self._tokens(prompt + piece)) <= self.window)
        return [self._tokens(prompt + part)[: self.window] for part in parts]

    def _expect(self, tokens: int) -> None:
        """So many tokens more are to be read: the weights are packed once that is worth it."""
        with self._packing:
            if self._tokens_until_packing > 0:
                self._tokens_until_packing -= tokens
                if self._tokens_until_packing <= 0:
                    self._session = open_session(self._model, packed=True)

    def _stack(self, vectors: Sequence[Vector]) -> Matrix:
        return np.stack(vectors) if vectors else np.zeros((0, self._stamp.dimensions), dtype=np.float32)

    def _mean(self, vectors: Sequence[Vector]) -> Vector:
        return vectors[0] if len(vectors) == 1 else mean_direction(vectors, model=self._stamp.model)

    def _tokens(self, text: str) -> list[int]:
        return self._tokenizer.ids(readable(text))

    def _text_vectors(self, rows: _Rows) -> list[Vector]:
        (sums,) = self._run(rows, TEXT_VECTORS)
        # The sum over a text's tokens points where their mean does.
        return list(unit_rows(sums, model=self._stamp.model))

    def _tokens_ahead(self, prompt: str) -> int:
        """How many tokens stand before a text's own: [CLS] or <s>, and the prompt's."""
        return len(self._tokens(prompt)) - _TOKENS_BEHIND

    def _text_and_token_vectors(self, rows: _Rows, ahead: int) -> list[tuple[Vector, Int8Matrix]]:
        sums, padded = self._run(rows, TEXT_VECTORS, TOKEN_VECTORS)
        vectors = unit_rows(sums, model=self._stamp.model)
        tokens = [_own_tokens(states, row, ahead) for states, row in zip(padded, rows, strict=True)]
        ends = np.cumsum([len(rows) for rows in tokens])[:-1]
        rounded = to_bytes(np.concatenate(tokens), model=self._stamp.model)
        return list(zip(vectors, np.split(rounded, ends), strict=True))

    def _text_and_projected(self, row: Sequence[int], ahead: int) -> tuple[Vector, Matrix]:
        sums, tokens = self._run([row], TEXT_VECTORS, TOKEN_VECTORS)
        return unit_rows(sums, model=self._stamp.model)[0], _own_tokens(tokens[0], row, ahead)

    def _run(self, rows: _Rows, *outputs: str) -> list[Matrix]:
        """The model's outputs for token rows, padded to the longest."""
        length = max(map(len, rows))
        tokens = np.zeros((len(rows), length), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for at, row in enumerate(rows):
            tokens[at, : len(row)] = row
            mask[at, : len(row)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        found: list[Matrix] = self._session.run(list(outputs), inputs)
        return found


def open_session(model: Path, *, packed: bool) -> onnxruntime.InferenceSession:
    """A session over a model that was optimised when it was exported; it sends no telemetry.

    packed: copy the weights into the processor's order now, instead of a part of them at every use.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options: Any = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    options.add_session_config_entry("session.disable_prepacking", "0" if packed else "1")
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _own_tokens(states: Matrix, row: Sequence[int], ahead: int) -> Matrix:
    """Without padding, special tokens and prompt; a text of nothing else keeps what it has."""
    own = states[ahead : len(row) - _TOKENS_BEHIND]
    return own if len(own) else states[: len(row)]


def _batches(rows: _Rows, most_tokens: int) -> Iterator[list[int]]:
    """Positions of rows, longest first (what is left to the end is short), by padded size."""
    batch: list[int] = []
    for at in sorted(range(len(rows)), key=lambda at: -len(rows[at])):
        if batch and (len(batch) + 1) * len(rows[batch[0]]) > most_tokens:
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
