"""Any model on this machine that sentence-transformers can load; slow to start, because it loads torch."""

from __future__ import annotations

import copy
import math
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragchat.embedding.embedder import EmbedderStamp, Matrix, TokenVectors, Vector
from ragchat.embedding.texts import pieces, readable
from ragchat.embedding.threads import worker_count
from ragchat.embedding.token_vectors import none_of, scheme, stacked, to_bytes
from ragchat.embedding.transformer_folder import existing_folder, identity, local_folder, weights_hash
from ragchat.embedding.transformer_tokens import BATCH, encode_with_tokens, remembered_projection, token_width
from ragchat.embedding.vectors import assert_unit, mean_direction, unit_rows
from ragchat.embedding.weights import recall, remember
from ragchat.errors import EmbedderUnavailable
from ragchat.settings import EmbeddingSettings

if TYPE_CHECKING:
    from ragchat.embedding.prepare import Notify

_RUNTIME = "sentence-transformers"
# A model without a limit of its own (static word vectors) reads a page at once, not a book.
_LARGEST_WINDOW = 8192
_QUESTION_PROMPTS = ("query",)
_PASSAGE_PROMPTS = ("document", "passage", "corpus")


class TransformerEmbedder:
    """Prompts are the settings', else the model's own for questions and documents."""

    def __init__(self, model: Any, stamp: EmbedderStamp, *, projection: Matrix) -> None:
        self._model = model
        self._stamp = stamp
        self._projection = projection
        # Truncation is a state of a tokenizer: counting needs one of its own, and a thread at a time.
        self._counter = copy.deepcopy(model.tokenizer)
        self._counting = threading.Lock()
        self._encoding = threading.Lock()

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
        """Width of the token vectors; 0 for a model of word vectors, which has none of its own."""
        return int(self._projection.shape[1])

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as a passage: special tokens and the passage prompt included, no truncation."""
        return self._count(self._stamp.passage_prompt + text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (len(texts), dimensions). Raises ValueError for a text over the window."""
        self._require_within_window(texts)
        return self._encode(texts, self._stamp.passage_prompt)

    def embed_question(self, text: str) -> Vector:
        """A unit vector, shape (dimensions,). Over the window: the average of its pieces."""
        parts = self._question_parts(text)
        return mean_direction(self._encode(parts, self._stamp.question_prompt), model=self._stamp.model)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        """As `embed_passages`, and every token's vector. Raises ValueError for a text over the window."""
        self._require_within_window(texts)
        if not self.token_dimensions:
            return self._encode(texts, self._stamp.passage_prompt), none_of(len(texts))
        vectors, tokens = self._encode_with_tokens(texts, self._stamp.passage_prompt)
        rounded = [to_bytes(rows, model=self._stamp.model) for rows in tokens]
        return vectors, stacked(rounded, self.token_dimensions)

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        """As `embed_question`, and every token's unit vector, shape (tokens, token_dimensions)."""
        if not self.token_dimensions:
            return self.embed_question(text), np.zeros((0, 0), dtype=np.float32)
        vectors, tokens = self._encode_with_tokens(self._question_parts(text), self._stamp.question_prompt)
        model = self._stamp.model
        return mean_direction(vectors, model=model), unit_rows(np.concatenate(tokens), model=model)

    def _require_within_window(self, texts: Sequence[str]) -> None:
        for at, text in enumerate(texts):
            tokens = self.count_tokens(text)
            if tokens > self.window:
                raise ValueError(f"text {at} has {tokens} tokens; the window holds {self.window}")

    def _question_parts(self, text: str) -> list[str]:
        prompt = self._stamp.question_prompt
        return pieces(text, lambda piece: self._count(prompt + piece) <= self.window)

    def _count(self, text: str) -> int:
        text = readable(text)
        with self._counting:
            if hasattr(self._counter, "encode_batch"):  # a bare fast tokenizer, as static models have it
                self._counter.no_truncation()
                return len(self._counter.encode(text).ids)
            return len(self._counter(text, truncation=False, padding=False, verbose=False)["input_ids"])

    def _encode(self, texts: Sequence[str], prompt: str) -> Matrix:
        if not texts:
            return np.zeros((0, self._stamp.dimensions), dtype=np.float32)
        with self._encoding:
            rows = self._model.encode(
                [readable(text) for text in texts],
                prompt=prompt,
                batch_size=BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return unit_rows(rows, model=self._stamp.model)

    def _encode_with_tokens(self, texts: Sequence[str], prompt: str) -> tuple[Matrix, list[Matrix]]:
        """Unit vectors, and each text's token vectors in fewer dimensions, of any length."""
        with self._encoding:
            vectors, tokens = encode_with_tokens(self._model, [readable(text) for text in texts], prompt)
        rows = np.stack(vectors) if vectors else np.zeros((0, self._stamp.dimensions))
        return unit_rows(rows, model=self._stamp.model), [states @ self._projection for states in tokens]


def open_transformer(
    settings: EmbeddingSettings, models: Path, *, fetch: bool, notify: Notify
) -> TransformerEmbedder:
    """Load the model that the settings name, from a folder or the local hub cache.

    models: the private cache folder in which hashes and stamps are remembered. Raises EmbedderUnavailable.
    """
    name = settings.model
    if not fetch:
        # Read when the hub library is imported: nothing below may ask the network.
        os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    if fetch and local_folder(name) is None:
        notify(f"downloading {name} from huggingface.co")
        _load(name, local=False)
    folder = existing_folder(name)
    notify(f"loading {name}")
    model = _load(str(folder), local=True)
    _use_threads(worker_count(settings.threads))
    try:
        weights = weights_hash(folder, models)
    except OSError as error:
        raise EmbedderUnavailable(
            f"the model folder {folder} cannot be read: {error}", hint="ragchat doctor"
        ) from error
    facts: dict[str, Any] = {
        "weights": weights,
        "dimensions": int(model.encode("", show_progress_bar=False).shape[0]),
        "token_width": token_width(model),
        "window": _window(model),
        "prompts": {key: value for key, value in (model.prompts or {}).items() if value},
    }
    projection = remembered_projection(model, name, facts["token_width"], identity(folder), models)
    embedder = TransformerEmbedder(model, _stamp(settings, facts), projection=projection)
    assert_unit(embedder.embed_question("probe")[None, :], model=name)
    remember(identity(folder), models, facts)
    return embedder


def remembered_stamp(settings: EmbeddingSettings, models: Path) -> EmbedderStamp | None:
    """The stamp as of the last time these very files were opened; None for files never opened."""
    try:
        folder = local_folder(settings.model)
        facts = recall(identity(folder), models) if folder else None
        return _stamp(settings, facts) if facts else None
    except (OSError, KeyError, TypeError):
        return None


def _stamp(settings: EmbeddingSettings, facts: Mapping[str, Any]) -> EmbedderStamp:
    prompts = facts["prompts"]
    return EmbedderStamp(
        model=settings.model,
        weights=facts["weights"],
        dimensions=facts["dimensions"],
        normalisation="unit",
        question_prompt=settings.question_prompt or _own_prompt(prompts, _QUESTION_PROMPTS),
        passage_prompt=settings.passage_prompt or _own_prompt(prompts, _PASSAGE_PROMPTS),
        window=facts["window"],
        runtime=_RUNTIME,
        token_vectors=scheme(facts["token_width"]),
    )


def _own_prompt(prompts: Mapping[str, str], names: Sequence[str]) -> str:
    return next((prompts[name] for name in names if prompts.get(name)), "")


def _load(name: str, *, local: bool) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise EmbedderUnavailable(
            f"sentence-transformers cannot be imported: {error}", hint="pip install sentence-transformers"
        ) from error
    transformers_logging.disable_progress_bar()
    try:
        return SentenceTransformer(name, local_files_only=local).eval()
    except Exception as error:  # the library lets through whatever its parts raise
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise EmbedderUnavailable(
            f"sentence-transformers cannot load {name}: {reason}",
            hint="RAGCHAT_EMBEDDING_MODEL=all-MiniLM-L6-v2 is the built-in model",
        ) from error


def _use_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)


def _window(model: Any) -> int:
    window = model.max_seq_length
    if window is None or not math.isfinite(window):
        return _LARGEST_WINDOW
    return min(int(window), _LARGEST_WINDOW)
