"""One folder of notes with everything that serves it, each part opened when it is first asked for.

The screens and the command line make one of these and use its two front doors: `update` (the indexer) and
`assistant`. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat import paths
from ragchat.answering.folder_file import read_folder_file, remember_folder
from ragchat.errors import FolderMissing, IndexCorrupt, IndexMissing, UsageError

if TYPE_CHECKING:
    from ragchat.answering.assistant import Assistant
    from ragchat.answering.conversation import Conversation
    from ragchat.answering.model_memory import ModelMemory
    from ragchat.answering.models import ModelEntry
    from ragchat.answering.ollama import OllamaServer
    from ragchat.answering.server import ServerHealth
    from ragchat.answering.status import FolderStatus
    from ragchat.chunking.options import ChunkOptions
    from ragchat.embedding.embedder import Embedder, EmbedderStamp
    from ragchat.embedding.ollama_pull import PullProgress
    from ragchat.index.progress import IndexReport, ProgressListener, Survey
    from ragchat.index.protocol import Index
    from ragchat.index.store import SqliteIndex
    from ragchat.retrieval.retriever import Retriever
    from ragchat.retrieval.trace import Threshold
    from ragchat.settings import Settings


class Workspace:
    """Opened parts are shared between threads; `update` runs in one thread at a time."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self._data_dir = paths.folder_data_dir(folder)
        self._opening = threading.RLock()
        self._loading = threading.Lock()
        self._updating = threading.Event()
        self._index: SqliteIndex | None = None
        self._embedder: Embedder | None = None
        self._server: OllamaServer | None = None
        self._memory: ModelMemory | None = None

    def index(self) -> Index:
        """The folder's index, created when there is none. Raises IndexCorrupt, StorageFailed."""
        return self._opened_index()

    def embedder(self) -> Embedder:
        """The configured embedder, loaded once. Raises EmbedderUnavailable."""
        return self._loaded_embedder(None, None)

    def has_index(self) -> bool:
        """Whether the folder was ever indexed."""
        from ragchat.index.schema import INDEX_FILE

        return self._index is not None or (self._data_dir / INDEX_FILE).exists()

    def is_known(self) -> bool:
        """Whether anything is kept of the folder."""
        return self._data_dir.exists()

    def survey(self) -> Survey:
        """What lies in the folder, before anything is read. Raises FolderMissing."""
        from ragchat.documents.reader import supported
        from ragchat.index.scan import survey

        return survey(self.folder, self.settings.notes, supported)

    def update(
        self,
        *,
        rebuild: bool = False,
        retry: bool = False,
        on_progress: ProgressListener | None = None,
        cancel: threading.Event | None = None,
    ) -> IndexReport:
        """Bring the index up to date, then the automatic threshold. Raises IndexStale, IndexLocked, …"""
        from ragchat.index.indexer import Indexer
        from ragchat.retrieval.legibility import legibility_notice

        self._require_folder()
        indexer = Indexer(
            self.folder,
            self._index_to_rebuild() if rebuild else self._opened_index(),
            lambda: self._loaded_embedder(on_progress, cancel),
            notes=self.settings.notes,
            chunking=self._chunking(),
            expected_stamp=self._expected_stamp,
        )
        remember_folder(self._data_dir, self.folder)
        self._updating.set()
        try:
            report = indexer.run(rebuild=rebuild, retry=retry, on_progress=on_progress, cancel=cancel)
        finally:
            self._updating.clear()
        if report.complete:
            self._calibrate(on_progress)
        if report.added + report.updated and not report.warning:
            report = replace(report, warning=legibility_notice(self._opened_index()))
        return report

    def assistant(self) -> Assistant:
        """Answers questions from the latest whole state of the index."""
        from ragchat.answering.assistant import Assistant

        return Assistant(
            retriever=self._retriever,
            embedder=self.embedder,
            server=self._model_server,
            preferred_model=self.model,
            settings=self.settings.ollama,
            memory=self._model_memory(),
        )

    def conversation(self) -> Conversation:
        """The folder's kept conversation."""
        from ragchat.answering.conversation import Conversation

        return Conversation(self._data_dir / "conversation.jsonl")

    def server_health(self) -> ServerHealth:
        """Whether the model server answers and what is installed; asks no model."""
        from ragchat.answering.server import ServerHealth

        try:
            return self._model_server().health()
        except UsageError as error:
            host = self.settings.ollama.host
            return ServerHealth(host, loopback=True, reachable=False, problem=error.message, hint=error.hint)

    def models(self) -> tuple[ModelEntry, ...]:
        """What a picker shows. Takes a moment the first time. Raises ServerUnreachable, UsageError."""
        from ragchat.answering.models import list_models

        return list_models(self._model_server(), self.model())

    def pull_model(
        self,
        name: str,
        *,
        on_progress: Callable[[PullProgress], None] | None = None,
        cancel: threading.Event | None = None,
    ) -> bool:
        """Have the server download a model; whether it is installed now, which it is not after a cancel.

        A pull that was cancelled or broke off goes on where it stopped. Raises BackendError, UsageError.
        """
        done = False
        for progress in self._model_server().pull(name, cancel or threading.Event()):
            done = progress.done
            if on_progress is not None:
                on_progress(progress)
        return done

    def probe_thinking(self, name: str, *, cancel: threading.Event | None = None) -> bool | None:
        """Whether a thinking model can do without, remembered for its weights: questions are then faster.

        Asks it one short question, unless that is known. None where it does not think or cannot be asked.
        Raises ServerUnreachable, ModelMissing, UsageError.
        """
        from ragchat.answering.probe import probe_thinking

        server = self._model_server()
        model = server.describe(name)
        return probe_thinking(server, model, self.settings.ollama, self._model_memory(), cancel)

    def model(self) -> str:
        """The model in use: of a flag or the environment, else remembered for the folder, else configured.

        "" where none is.
        """
        configured = self.settings.ollama.model
        origin = self.settings.origins.get("ollama.model", "")
        if configured and (origin == "flag" or origin.startswith("RAGCHAT_")):
            return configured
        remembered = read_folder_file(self._data_dir)
        return (remembered.model if remembered else "") or configured

    def remember_model(self, name: str) -> None:
        """Use this model for the folder from now on. Raises StorageFailed."""
        remember_folder(self._data_dir, self.folder, model=name)

    def status(self) -> FolderStatus:
        """What `ragchat status` tells. Loads no model. Raises FolderMissing without folder and index."""
        from ragchat.answering.status import read_status

        if not self.has_index():
            self._require_folder()
        return read_status(
            self.folder,
            self._opened_index() if self.has_index() else None,
            self.settings,
            chunker=self._chunking().stamp,
            expected_stamp=self._expected_stamp,
        )

    def forget(self) -> None:
        """Delete the folder's index and conversation. Raises IndexLocked while another process indexes."""
        from ragchat.index.lock import writer_lock
        from ragchat.index.schema import remove_database

        self.close()
        if not self._data_dir.exists():
            return
        with writer_lock(self._data_dir):
            remove_database(self._data_dir)
            self.conversation().clear()
        shutil.rmtree(self._data_dir, ignore_errors=True)

    def close(self) -> None:
        """Release files; what is asked for again is opened again."""
        with self._opening:
            index, self._index = self._index, None
        if index is not None:
            index.close()

    def _opened_index(self) -> SqliteIndex:
        from ragchat.index.store import open_index

        with self._opening:
            if self._index is None:
                self._index = open_index(self._data_dir)
            return self._index

    def _index_to_rebuild(self) -> SqliteIndex:
        """Also in place of a file that is damaged: rebuilding is its remedy."""
        from ragchat.index.store import replace_damaged_index

        try:
            index = self._opened_index()
            index.check()
        except IndexCorrupt:
            self.close()
            with self._opening:
                self._index = replace_damaged_index(self._data_dir)
                return self._index
        return index

    def _loaded_embedder(
        self, on_progress: ProgressListener | None, cancel: threading.Event | None
    ) -> Embedder:
        """Told what is waited for, because preparing the built-in model for the first time takes a while."""
        from ragchat.embedding.registry import open_embedder
        from ragchat.index.progress import IndexProgress

        def notify(message: str) -> None:
            if on_progress is not None:
                on_progress(IndexProgress("loading model", current=message))

        with self._loading:
            if self._embedder is None:
                self._embedder = open_embedder(
                    self.settings.embedding,
                    ollama_host=self.settings.ollama.host,
                    notify=notify,
                    cancel=cancel,
                )
            return self._embedder

    def _require_folder(self) -> None:
        if not self.folder.is_dir():
            what = "is no folder" if self.folder.exists() else "is not there"
            raise FolderMissing(f"{self.folder} {what}", hint="name a folder of notes: ragchat FOLDER")

    def _retriever(self) -> Retriever:
        from ragchat.retrieval.retriever import Retriever

        if not self.has_index():
            self._require_folder()
            raise IndexMissing(f"{self.folder} has no index yet", hint=f"ragchat index -f {self.folder}")
        # Loading the model takes a while in which notes are read: what is searched is taken after it.
        embedder, threshold = self.embedder(), self._threshold()
        snapshot = self._opened_index().snapshot()
        if self._updating.is_set() and not snapshot.chunk_count:
            raise IndexMissing(f"nothing in {self.folder} has been read yet", hint="ask again in a moment")
        return Retriever(snapshot, embedder, self.settings.retrieval, threshold)

    def _threshold(self) -> Threshold:
        """Calibrated on what is indexed now: while a folder is being read, an earlier one is too loose."""
        from ragchat.retrieval.threshold import refresh_threshold

        return refresh_threshold(self._opened_index(), self.embedder(), self.settings.retrieval)

    def _calibrate(self, on_progress: ProgressListener | None) -> None:
        from ragchat.index.progress import IndexProgress
        from ragchat.retrieval.threshold import needs_refresh, refresh_threshold

        index = self._opened_index()
        if needs_refresh(index, self.settings.retrieval):
            if on_progress is not None:
                on_progress(IndexProgress("calibrating"))
            refresh_threshold(index, self.embedder(), self.settings.retrieval)

    def _chunking(self) -> ChunkOptions:
        from ragchat.chunking.options import ChunkOptions

        return ChunkOptions(**asdict(self.settings.chunking))

    def _expected_stamp(self) -> EmbedderStamp | None:
        from ragchat.embedding.registry import expected_stamp

        return expected_stamp(self.settings.embedding, ollama_host=self.settings.ollama.host)

    def _model_memory(self) -> ModelMemory:
        from ragchat.answering.model_memory import ModelMemory

        with self._opening:
            if self._memory is None:
                self._memory = ModelMemory(paths.cache_dir() / "models.json")
            return self._memory

    def _model_server(self) -> OllamaServer:
        from ragchat.answering.ollama import OllamaServer

        with self._opening:
            if self._server is None:
                self._server = OllamaServer(self.settings.ollama.host)
            return self._server
