"""From a name in the settings to an embedder.

    all-MiniLM-L6-v2                 the built-in model, in onnxruntime
    multilingual-e5-small            the same way, where the package that carries it is installed
    ollama:NAME                      a model of the Ollama server
    ./folder, ~/folder, /folder      a model folder, in sentence-transformers
    any other name                   a model in the local hub cache, in sentence-transformers

Nothing is ever downloaded unless `fetch` is set, which only an explicit command of the user does.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat.embedding.packaged import packaged_model
from ragchat.errors import UsageError
from ragchat.paths import cache_dir

if TYPE_CHECKING:
    from ragchat.embedding.embedder import Embedder, EmbedderStamp
    from ragchat.embedding.prepare import Notify
    from ragchat.settings import EmbeddingSettings

OLLAMA_PREFIX = "ollama:"


def open_embedder(
    settings: EmbeddingSettings,
    *,
    ollama_host: str,
    cache: Path | None = None,
    fetch: bool = False,
    notify: Notify | None = None,
    cancel: threading.Event | None = None,
) -> Embedder:
    """The embedder that the settings name, ready to use. Blocks: seconds for some models, once 20 s for ours.

    ollama_host: as in the settings or OLLAMA_HOST; only `ollama:` names use it.
    cache: the cache folder, else the user's own.
    fetch: allow the download of a model that is not on this machine.
    notify: told in one line what is being waited for. cancel: set it to give up a long preparation.
    Raises EmbedderUnavailable, and UsageError for a precision that the model does not come in.
    """
    opened = _open(settings, ollama_host, (cache or cache_dir()) / "models", fetch, notify or _ignore, cancel)
    if settings.token_vectors or not opened.token_dimensions:
        return opened
    from ragchat.embedding.without_tokens import WithoutTokens

    return WithoutTokens(opened)


def _open(
    settings: EmbeddingSettings,
    ollama_host: str,
    models: Path,
    fetch: bool,
    told: Notify,
    cancel: threading.Event | None,
) -> Embedder:
    if model := packaged_model(settings.model):
        from ragchat.embedding.prepare import open_packaged

        return open_packaged(model, settings, models, notify=told, cancel=cancel or threading.Event())
    if settings.precision != "fp32":
        raise UsageError(
            f"only the built-in models have embedding.precision = {settings.precision}, not {settings.model}",
            hint="ragchat config set embedding.precision fp32",
        )
    if settings.model.startswith(OLLAMA_PREFIX):
        from ragchat.embedding.ollama import open_ollama

        return open_ollama(
            settings, settings.model.removeprefix(OLLAMA_PREFIX), ollama_host, fetch=fetch, notify=told
        )
    from ragchat.embedding.transformer import open_transformer

    return open_transformer(settings, models, fetch=fetch, notify=told)


def expected_stamp(
    settings: EmbeddingSettings, *, ollama_host: str, cache: Path | None = None
) -> EmbedderStamp | None:
    """The stamp that `open_embedder` would give, without loading a model; None when that cannot be told.

    A packaged model's is always known. A sentence-transformers model's is remembered from the last time it
    was opened with the same files. An Ollama model's costs three quick requests (no `/api/embed`), and cannot
    be told when no server answers. Raises nothing: what is wrong with a model shows when it is opened.
    """
    stamp = _expected(settings, ollama_host, (cache or cache_dir()) / "models")
    return stamp if stamp is None or settings.token_vectors else replace(stamp, token_vectors="")


def _expected(settings: EmbeddingSettings, ollama_host: str, models: Path) -> EmbedderStamp | None:
    if model := packaged_model(settings.model):
        from ragchat.embedding.exported import packaged_stamp

        return packaged_stamp(model, settings)
    if settings.model.startswith(OLLAMA_PREFIX):
        from ragchat.embedding.ollama import ollama_stamp

        return ollama_stamp(settings, settings.model.removeprefix(OLLAMA_PREFIX), ollama_host)
    from ragchat.embedding.transformer import remembered_stamp

    return remembered_stamp(settings, models)


def _ignore(message: str) -> None:
    """Nobody wants to be told."""
