"""The language models as one folder uses them: what is installed, which one is used, how to get another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat import paths
from ragchat.answering.folder_file import read_folder_file, remember_folder
from ragchat.errors import UsageError

if TYPE_CHECKING:
    from ragchat.answering.model_memory import ModelMemory
    from ragchat.answering.models import ModelEntry
    from ragchat.answering.ollama import OllamaServer
    from ragchat.answering.server import ServerHealth
    from ragchat.embedding.ollama_pull import PullProgress
    from ragchat.settings import Settings


class FolderModels:
    """What is opened is shared between threads."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self._data_dir = paths.folder_data_dir(folder)
        self._opening = threading.RLock()
        self._server: OllamaServer | None = None
        self._memory: ModelMemory | None = None

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
