"""One folder of notes with everything that serves it, each part opened when it is first asked for.

The screens and the command line make one of these and use its two front doors: `update` (the indexer) and
`assistant`. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragchat.answering.assistant import Assistant
    from ragchat.answering.conversation import Conversation
    from ragchat.answering.server import ServerHealth
    from ragchat.answering.status import FolderStatus
    from ragchat.embedding.embedder import Embedder
    from ragchat.index.progress import IndexReport, ProgressListener, Survey
    from ragchat.index.protocol import Index
    from ragchat.settings import Settings


class Workspace:
    """Opened parts are shared between threads; `update` runs in one thread at a time."""

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings

    def index(self) -> Index:
        """The folder's index, created when there is none. Raises IndexCorrupt, StorageFailed."""
        raise NotImplementedError

    def embedder(self) -> Embedder:
        """The configured embedder, loaded once. Raises EmbedderUnavailable."""
        raise NotImplementedError

    def survey(self) -> Survey:
        """What lies in the folder, before anything is read. Raises FolderMissing."""
        raise NotImplementedError

    def update(
        self,
        *,
        rebuild: bool = False,
        retry: bool = False,
        on_progress: ProgressListener | None = None,
        cancel: threading.Event | None = None,
    ) -> IndexReport:
        """Bring the index up to date, then the automatic threshold. Raises IndexStale, IndexLocked, …"""
        raise NotImplementedError

    def assistant(self) -> Assistant:
        """Answers questions from the latest whole state of the index."""
        raise NotImplementedError

    def conversation(self) -> Conversation:
        """The folder's kept conversation."""
        raise NotImplementedError

    def server_health(self) -> ServerHealth:
        """Whether the model server answers and what is installed; asks no model."""
        raise NotImplementedError

    def model(self) -> str:
        """The model in use: remembered for the folder, else configured; "" where neither is."""
        raise NotImplementedError

    def remember_model(self, name: str) -> None:
        """Use this model for the folder from now on."""
        raise NotImplementedError

    def status(self) -> FolderStatus:
        """What `ragchat status` tells. Loads no model."""
        raise NotImplementedError

    def forget(self) -> None:
        """Delete the folder's index and conversation."""
        raise NotImplementedError

    def close(self) -> None:
        """Release files and threads."""
        raise NotImplementedError
