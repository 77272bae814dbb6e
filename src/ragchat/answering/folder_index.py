"""The index and the embedder of one folder, each opened when it is first asked for and then shared."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat.errors import IndexCorrupt, UsageError

if TYPE_CHECKING:
    from ragchat.chunking.options import ChunkOptions
    from ragchat.embedding.embedder import Embedder, EmbedderStamp
    from ragchat.index.postgres.store import PostgresIndex
    from ragchat.index.progress import ProgressListener
    from ragchat.index.protocol import Index
    from ragchat.retrieval.cross_encoder import CrossEncoderReranker
    from ragchat.settings import IndexSettings, Settings


class FolderIndex:
    """Safe to use from several threads."""

    def __init__(self, data_dir: Path, settings: Settings) -> None:
        self._data_dir = data_dir
        self._settings = settings
        self._opening = threading.RLock()
        self._loading = threading.Lock()
        self._index: Index | None = None
        self._file: tuple[int, int] | None = None
        self._embedder: Embedder | None = None
        self._reranker: CrossEncoderReranker | None = None

    @property
    def is_shared(self) -> bool:
        """Whether the index is a library in a database, which other people use too."""
        return bool(self._settings.index.backend)

    def exists(self) -> bool:
        """Whether anything was ever indexed. Raises StorageFailed, UsageError for a database."""
        from ragchat.index.files import INDEX_FILE

        if self.is_shared:
            return self.opened().stamp is not None

        return (self._data_dir / INDEX_FILE).exists()

    def opened(self) -> Index:
        """The index, created when there is none. Raises IndexCorrupt, StorageFailed, UsageError."""
        with self._opening:
            if self._index is not None and self._file != self._file_now():
                # Another program has forgotten the folder, or made its damaged index anew.
                self._index.close()
                self._index = None
            return self._index or self._keep(self._open())

    def _keep(self, index: Index) -> Index:
        self._index, self._file = index, self._file_now()
        return index

    def _file_now(self) -> tuple[int, int] | None:
        """What tells the index's file from another one of its name; None where there is none."""
        from ragchat.index.files import INDEX_FILE

        if self.is_shared:
            return None
        try:
            status = (self._data_dir / INDEX_FILE).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _open(self) -> Index:
        if self.is_shared:
            return _open_shared(self._settings.index)
        from ragchat.index.store import open_index

        return open_index(self._data_dir)

    def library(self) -> PostgresIndex:
        """The shared library. Raises UsageError where the index is a file, StorageFailed."""
        from ragchat.index.postgres.store import PostgresIndex

        index = self.opened() if self.is_shared else None
        if not isinstance(index, PostgresIndex):
            raise UsageError(
                "the index is a file on this machine, not a shared library",
                hint="name one: --index postgresql://user@host/database",
            )
        return index

    def to_rebuild(self) -> Index:
        """Also in place of a file that is damaged: rebuilding is its remedy."""
        from ragchat.index.store import SqliteIndex, replace_damaged_index

        try:
            index = self.opened()
            if isinstance(index, SqliteIndex):
                index.check()
        except IndexCorrupt:
            self.close()
            with self._opening:
                return self._keep(replace_damaged_index(self._data_dir))
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


def _open_shared(settings: IndexSettings) -> Index:
    if not settings.backend.startswith(("postgresql://", "postgres://")):
        raise UsageError(
            f"index.backend = {settings.backend!r} is no address of a database",
            hint='write it as "postgresql://user@host:5432/database"',
        )
    from ragchat.index.postgres.store import open_library

    return open_library(settings.backend, settings.library, settings.audiences)
