"""The index and the embedder of one folder, each opened when it is first asked for and then shared."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat.errors import IndexCorrupt

if TYPE_CHECKING:
    from ragchat.chunking.options import ChunkOptions
    from ragchat.embedding.embedder import Embedder, EmbedderStamp
    from ragchat.index.progress import ProgressListener
    from ragchat.index.store import SqliteIndex
    from ragchat.retrieval.cross_encoder import CrossEncoderReranker
    from ragchat.settings import Settings


class FolderIndex:
    """Safe to use from several threads."""

    def __init__(self, data_dir: Path, settings: Settings) -> None:
        self._data_dir = data_dir
        self._settings = settings
        self._opening = threading.RLock()
        self._loading = threading.Lock()
        self._index: SqliteIndex | None = None
        self._embedder: Embedder | None = None
        self._reranker: CrossEncoderReranker | None = None

    def exists(self) -> bool:
        """Whether the folder was ever indexed."""
        from ragchat.index.schema import INDEX_FILE

        return self._index is not None or (self._data_dir / INDEX_FILE).exists()

    def opened(self) -> SqliteIndex:
        """The index, created when there is none. Raises IndexCorrupt, StorageFailed."""
        from ragchat.index.store import open_index

        with self._opening:
            if self._index is None:
                self._index = open_index(self._data_dir)
            return self._index

    def to_rebuild(self) -> SqliteIndex:
        """Also in place of a file that is damaged: rebuilding is its remedy."""
        from ragchat.index.store import replace_damaged_index

        try:
            index = self.opened()
            index.check()
        except IndexCorrupt:
            self.close()
            with self._opening:
                self._index = replace_damaged_index(self._data_dir)
                return self._index
        return index

    def embedder(
        self, on_progress: ProgressListener | None = None, cancel: threading.Event | None = None
    ) -> Embedder:
        """The configured embedder, loaded once. Raises EmbedderUnavailable.

        on_progress: told what is waited for: preparing the built-in model the first time takes a while.
        """
        from ragchat.embedding.registry import open_embedder
        from ragchat.index.progress import IndexProgress

        def notify(message: str) -> None:
            if on_progress is not None:
                on_progress(IndexProgress("loading model", current=message))

        with self._loading:
            if self._embedder is None:
                self._embedder = open_embedder(
                    self._settings.embedding,
                    ollama_host=self._settings.ollama.host,
                    notify=notify,
                    cancel=cancel,
                )
            return self._embedder

    def reranker(self) -> CrossEncoderReranker | None:
        """The configured cross-encoder, loaded once; None where none is. Raises EmbedderUnavailable."""
        name = self._settings.retrieval.cross_encoder
        if not name:
            return None
        from ragchat.paths import cache_dir
        from ragchat.retrieval.cross_encoder import open_cross_encoder

        with self._loading:
            if self._reranker is None:
                self._reranker = open_cross_encoder(name, cache_dir() / "models")
            return self._reranker

    def expected_stamp(self) -> EmbedderStamp | None:
        """What the configured embedder would give, without loading it; None where that cannot be told."""
        from ragchat.embedding.registry import expected_stamp

        return expected_stamp(self._settings.embedding, ollama_host=self._settings.ollama.host)

    def chunking(self) -> ChunkOptions:
        """How documents are cut."""
        from ragchat.chunking.options import ChunkOptions

        return ChunkOptions(**asdict(self._settings.chunking))

    def close(self) -> None:
        """Release files; what is asked for again is opened again."""
        with self._opening:
            index, self._index = self._index, None
        if index is not None:
            index.close()
