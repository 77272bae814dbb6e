"""Everything that can go wrong, each with the next thing to do.

    RagchatError
    ├── UsageError            exit 2: the command was written wrong
    ├── SetupError            exit 3: the folder, the index or the embedder is not ready
    │   ├── FolderMissing
    │   ├── FolderTooLarge    a home folder, `/`, anything huge: asked about first
    │   ├── IndexMissing
    │   ├── IndexStale        made by another embedder or chunker
    │   ├── IndexCorrupt
    │   ├── IndexLocked       another ragchat is writing it
    │   ├── RevisionConflict  another ragchat has replaced the document meanwhile
    │   ├── StorageFailed     disk full, read-only data folder
    │   └── EmbedderUnavailable
    └── BackendError          exit 4: the model server
        ├── ServerUnreachable no server answers at the host
        ├── ModelMissing      a model asked for by name is not installed
        └── GenerationFailed  the answer broke off after it began

What is ordinary is a value, not an error: a file that cannot be read is a `FailedDocument`, a question
without evidence is a refused `RetrievalTrace`.
"""

from __future__ import annotations


class RagchatError(Exception):
    """One clear line for the user (`message`) and what to do next (`hint`, may be empty)."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(RagchatError):
    """The command, a setting or an argument is written wrong."""

    exit_code = 2


class SetupError(RagchatError):
    """Something has to be put in place before a question can be asked."""

    exit_code = 3


class FolderMissing(SetupError):
    """The notes folder is not there, or is no folder."""


class FolderTooLarge(SetupError):
    """The folder is a home folder, a file system's root, or huge; the user must confirm first."""


class IndexMissing(SetupError):
    """The folder has no index yet."""


class IndexStale(SetupError):
    """The index was made by another embedder or chunker than the one asked for."""


class IndexCorrupt(SetupError):
    """The index file cannot be read as what we wrote."""


class IndexLocked(SetupError):
    """Another process is writing this index."""


class RevisionConflict(SetupError):
    """Another process has replaced the document since it was read."""


class StorageFailed(SetupError):
    """The index could not be written: disk full, folder read-only."""


class EmbedderUnavailable(SetupError):
    """The embedding model cannot be loaded or does not answer."""


class BackendError(RagchatError):
    """The model server did not do what was asked."""

    exit_code = 4


class ServerUnreachable(BackendError):
    """No model server answers at the configured host."""


class ModelMissing(BackendError):
    """The model asked for by name is not installed on the server. pull: the one to get, "" unknown."""

    def __init__(self, message: str, *, hint: str = "", pull: str = "") -> None:
        super().__init__(message, hint=hint)
        self.pull = pull


class GenerationFailed(BackendError):
    """The answer broke off after the call began."""
