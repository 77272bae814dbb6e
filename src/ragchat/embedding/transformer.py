"""Any model on this machine that sentence-transformers can load; slow to start, because it loads torch."""

from __future__ import annotations

import copy
import math
import os
import shlex
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragchat.embedding.embedder import EmbedderStamp, Matrix, TokenVectors, Vector
from ragchat.embedding.onnx import worker_count
from ragchat.embedding.texts import pieces, readable
from ragchat.embedding.token_vectors import none_of, projection, scheme, stacked, to_bytes
from ragchat.embedding.vectors import assert_unit, mean_direction, unit_rows
from ragchat.embedding.weights import recall, remember, remembered_hash
from ragchat.errors import EmbedderUnavailable
from ragchat.settings import EmbeddingSettings

if TYPE_CHECKING:
    from ragchat.embedding.prepare import Notify

FETCH_COMMAND = "ragchat fetch"

_RUNTIME = "sentence-transformers"
# A model without a limit of its own (static word vectors) reads a page at once, not a book.
_LARGEST_WINDOW = 8192
_BATCH = 16
_QUESTION_PROMPTS = ("query",)
_PASSAGE_PROMPTS = ("document", "passage", "corpus")


class TransformerEmbedder:
    """Prompts are the settings', else the model's own for questions and documents."""

    def __init__(self, model: Any, stamp: EmbedderStamp, *, token_width: int) -> None:
        self._model = model
        self._stamp = stamp
        self._projection = projection(token_width)
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
                batch_size=_BATCH,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return unit_rows(rows, model=self._stamp.model)

    def _encode_with_tokens(self, texts: Sequence[str], prompt: str) -> tuple[Matrix, list[Matrix]]:
        """Unit vectors, and each text's token vectors in fewer dimensions, of any length."""
        readables = [readable(text) for text in texts]
        with self._encoding:
            features = self._model.encode(
                readables, prompt=prompt, batch_size=_BATCH, output_value=None, show_progress_bar=False
            )
        vectors = [feature["sentence_embedding"].float().cpu().numpy() for feature in features]
        stack = np.stack(vectors) if vectors else np.zeros((0, self._stamp.dimensions))
        return unit_rows(stack, model=self._stamp.model), [
            _token_rows(feature) @ self._projection for feature in features
        ]


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
    if fetch and _local_folder(name) is None:
        notify(f"downloading {name} from huggingface.co")
        _load(name, local=False)
    folder = _existing_folder(name)
    notify(f"loading {name}")
    model = _load(str(folder), local=True)
    _use_threads(worker_count(settings.threads))
    try:
        weights = _weights_hash(folder, models)
    except OSError as error:
        raise EmbedderUnavailable(
            f"the model folder {folder} cannot be read: {error}", hint="ragchat doctor"
        ) from error
    facts: dict[str, Any] = {
        "weights": weights,
        "dimensions": int(model.encode("", show_progress_bar=False).shape[0]),
        "token_width": _token_width(model),
        "window": _window(model),
        "prompts": {key: value for key, value in (model.prompts or {}).items() if value},
    }
    stamp = _stamp(settings, facts)
    embedder = TransformerEmbedder(model, stamp, token_width=facts["token_width"])
    assert_unit(embedder.embed_question("probe")[None, :], model=name)
    remember(_identity(folder), models, facts)
    return embedder


def remembered_stamp(settings: EmbeddingSettings, models: Path) -> EmbedderStamp | None:
    """The stamp as of the last time these very files were opened; None for files never opened."""
    try:
        folder = _local_folder(settings.model)
        facts = recall(_identity(folder), models) if folder else None
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


def _existing_folder(name: str) -> Path:
    folder = _local_folder(name)
    if folder is not None:
        return folder
    if _looks_like_path(name):
        raise EmbedderUnavailable(
            f"there is no embedding model in the folder {name!r}",
            hint="RAGCHAT_EMBEDDING_MODEL=all-MiniLM-L6-v2 is the built-in model",
        )
    raise EmbedderUnavailable(
        f"the embedding model {name!r} is not on this machine, and nothing is downloaded without being asked",
        hint=f"{FETCH_COMMAND} {shlex.quote(name)}",
    )


def _local_folder(name: str) -> Path | None:
    """The model's folder on this machine: a path, or a snapshot in the hub's cache."""
    path = Path(name).expanduser()
    if _is_model(path):
        return path.resolve()
    if _looks_like_path(name):
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    for repository in (name,) if "/" in name else (f"sentence-transformers/{name}", name):
        for file in ("modules.json", "config.json"):
            try:
                found = try_to_load_from_cache(repository, file)
            except HFValidationError:
                return None
            if isinstance(found, str):
                return Path(found).parent
    return None


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "~")) or Path(name).is_absolute() or Path(name).is_dir()


def _is_model(folder: Path) -> bool:
    return (folder / "modules.json").is_file() or (folder / "config.json").is_file()


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


def _token_width(model: Any) -> int:
    """Width of the token vectors that this kind of model gives beside a text's vector, 0 for none."""
    (feature,) = model.encode(["probe"], output_value=None, show_progress_bar=False)
    try:
        return int(_token_rows(feature).shape[1])
    except (KeyError, IndexError):
        return 0


def _token_rows(feature: dict[str, Any]) -> Matrix:
    """The token vectors of one text of a batch, without padding, shape (tokens, width)."""
    rows: Matrix = feature["token_embeddings"][feature["attention_mask"].bool()].float().cpu().numpy()
    return rows


def _window(model: Any) -> int:
    window = model.max_seq_length
    if window is None or not math.isfinite(window):
        return _LARGEST_WINDOW
    return min(int(window), _LARGEST_WINDOW)


def _weights_hash(folder: Path, models: Path) -> str:
    """sha256 over the files that hold numbers; what was hashed once is remembered."""
    files = sorted(file for pattern in ("*.safetensors", "*.bin") for file in folder.rglob(pattern))
    files = [file for file in files if not {"onnx", "openvino"} & set(file.relative_to(folder).parts)]
    if not files:
        raise EmbedderUnavailable(f"{folder} holds no weights (.safetensors or .bin)", hint="ragchat doctor")
    return remembered_hash(files, models)


def _identity(folder: Path) -> list[Path]:
    """The files whose change may change the vectors: weights, and the settings beside them."""
    return sorted(
        file for file in folder.rglob("*") if file.suffix in {".safetensors", ".bin", ".json", ".txt"}
    )
