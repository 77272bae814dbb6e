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

from ragchat.embedding.embedder import EmbedderStamp, Matrix, Vector
from ragchat.embedding.onnx import worker_count
from ragchat.embedding.texts import pieces, readable
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
_QUESTION_PROMPTS = ("query",)
_PASSAGE_PROMPTS = ("document", "passage", "corpus")


class TransformerEmbedder:
    """Prompts are the settings', else the model's own for questions and documents."""

    def __init__(self, model: Any, stamp: EmbedderStamp) -> None:
        self._model = model
        self._stamp = stamp
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

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` as a passage: special tokens and the passage prompt included, no truncation."""
        return self._count(self._stamp.passage_prompt + text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (len(texts), dimensions). Raises ValueError for a text over the window."""
        for at, text in enumerate(texts):
            tokens = self.count_tokens(text)
            if tokens > self.window:
                raise ValueError(f"text {at} has {tokens} tokens; the window holds {self.window}")
        return self._encode(texts, self._stamp.passage_prompt)

    def embed_question(self, text: str) -> Vector:
        """A unit vector, shape (dimensions,). Over the window: the average of its pieces."""
        prompt = self._stamp.question_prompt
        parts = pieces(text, lambda piece: self._count(prompt + piece) <= self.window)
        return mean_direction(self._encode(parts, prompt), model=self._stamp.model)

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
                batch_size=16,
                normalize_embeddings=True,
                convert_to_numpy=True,
                show_progress_bar=False,
            )
        return unit_rows(rows, model=self._stamp.model)


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
    facts = {
        "weights": weights,
        "dimensions": int(model.encode("", show_progress_bar=False).shape[0]),
        "window": _window(model),
        "prompts": {key: value for key, value in (model.prompts or {}).items() if value},
    }
    stamp = _stamp(settings, facts)
    embedder = TransformerEmbedder(model, stamp)
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
