"""One open folder and the threads that work for it; no widget is touched here.

The threads are daemons with cancel events of their own, because leaving must never wait for a silent server
or a batch of embeddings. What they find they post as messages.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from ragchat.errors import IndexCorrupt, SetupError
from ragchat.tui.following import Following, as_ragchat_error
from ragchat.tui.messages import (
    Confirm,
    ConversationRead,
    FolderFailed,
    FolderOpened,
    IndexFailed,
    ServerChecked,
)
from ragchat.tui.model_desk import ModelDesk
from ragchat.tui.question_desk import QuestionDesk
from ragchat.tui.talk_desk import TalkDesk

if TYPE_CHECKING:
    from ragchat.answering.server import ServerHealth
    from ragchat.answering.turn import TurnSource
    from ragchat.answering.workspace import Workspace
    from ragchat.settings import Settings
    from ragchat.tui.collecting import Collecting
    from ragchat.tui.tuning import Tuning

WorkspaceFactory = Callable[[Path, "Settings"], "Workspace"]
Post = Callable[[Message], object]

HEALTH_EVERY_SECONDS = 15.0


def real_workspace(folder: Path, settings: Settings) -> Workspace:
    """The workspace of the answering room, imported only when a folder is opened."""
    from ragchat.answering.workspace import Workspace

    return Workspace(folder, settings)


class Session:
    """Opens a workspace in a thread and serves the screen from it.

    opening: until the screen has shown the folder. The kept turns would wipe away a question before that.
    """

    def __init__(
        self, folder: Path, settings: Settings, open_workspace: WorkspaceFactory, post: Post
    ) -> None:
        self.folder = folder
        self.opening = False
        self._reads_soon = False
        self._settings = settings
        self._open_workspace = open_workspace
        self._send = post
        self._workspace: Workspace | None = None
        self._closing = threading.Event()
        self._server_due = threading.Event()
        self.questions = QuestionDesk(self)
        self.following = Following(self, self.start, self.post, self._closing)
        self.models = ModelDesk(self)
        self.talks = TalkDesk(self)
        self._tuning: Tuning | None = None
        self._collecting: Collecting | None = None

    @property
    def workspace(self) -> Workspace:
        """The open workspace. Raises SetupError until `FolderOpened` was posted."""
        if self._workspace is None:
            raise SetupError("the folder is still being opened")
        return self._workspace

    @property
    def tuning(self) -> Tuning:
        """Sets the folder's threshold."""
        from ragchat.tui.tuning import Tuning

        if self._tuning is None:
            self._tuning = Tuning(self)
        return self._tuning

    @property
    def collecting(self) -> Collecting:
        """Keeps the questions that are marked."""
        from ragchat.tui.collecting import Collecting

        if self._collecting is None:
            self._collecting = Collecting(self)
        return self._collecting

    @property
    def is_open(self) -> bool:
        """Whether questions can be asked."""
        return self._workspace is not None

    def open(self) -> None:
        """Read what is known of the folder, then bring its index up to date."""
        self.opening = True
        self.start(self._open)

    @property
    def indexing(self) -> bool:
        """Whether the index is being brought up to date."""
        return self.following.indexing

    @property
    def reads_soon(self) -> bool:
        """Whether notes are being read, or will be at once."""
        return self._reads_soon or self.indexing

    def index(self, *, rebuild: bool = False, retry: bool = False) -> None:
        """Bring the index up to date, unless that is going on already."""
        self.following.index(rebuild=rebuild, retry=retry)

    def stop_indexing(self) -> None:
        """What was indexed stays; the rest is pending."""
        self.following.stop.set()

    def check_server(self) -> None:
        """Look at the model server now."""
        self._server_due.set()

    def verify(self, source: TurnSource, post: Post) -> None:
        """Hold a source against its note as it is now, and post what became of it."""
        from ragchat.tui.checking import verify

        self.start(lambda: verify(self, source, post))

    def stop(self) -> None:
        """Have everything stop, and post nothing more; waits for nothing."""
        self._closing.set()
        self.questions.stop()
        self.following.stop.set()
        self.models.close()
        self._server_due.set()

    def close(self) -> None:
        """Stop everything; waits only a moment, for a stopped answer to be kept."""
        self.stop()
        self.questions.close()
        if self._workspace is not None and not self.indexing and not self.questions.asking:
            self._workspace.close()

    @property
    def closing(self) -> threading.Event:
        """Set once the folder is being left."""
        return self._closing

    def start(self, work: Callable[[], None]) -> threading.Thread:
        """Work in a thread of its own, which nothing waits for."""
        thread = threading.Thread(target=work, name=f"ragchat {self.folder.name}", daemon=True)
        thread.start()
        return thread

    def post(self, message: Message) -> None:
        """Tell the screen, unless it is being left."""
        if self._closing.is_set():
            return
        try:
            self._send(message)
        except RuntimeError:  # the loop has ended while we worked
            self._closing.set()

    def _open(self) -> None:
        try:
            workspace = self._open_workspace(self.folder, self._settings)
            self.post(ConversationRead(self, workspace.conversation().turns()))
            status, model = workspace.status(), workspace.model()
            survey = workspace.survey() if status.indexed == 0 and not workspace.is_shared else None
        except IndexCorrupt as error:
            self._workspace = workspace
            self.post(IndexFailed(self, error))
            self.start(self._watch_server)
            return
        except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
            self.post(FolderFailed(self, as_ragchat_error(error)))
            return
        confirm = survey is not None and survey.confirm
        # A library is searched as it is until somebody asks for its index.
        self._reads_soon = not confirm and not workspace.is_shared
        self._workspace = workspace
        self.post(FolderOpened(self, status, model))
        self.start(self._watch_server)
        if survey is not None and confirm:
            self.post(Confirm(self, survey))
        elif self._reads_soon:
            self.index()
            self._reads_soon = False

    def _watch_server(self) -> None:
        while not self._closing.is_set():
            self.post(ServerChecked(self, self._health(), self.workspace.model()))
            self._server_due.wait(HEALTH_EVERY_SECONDS)
            self._server_due.clear()

    def _health(self) -> ServerHealth:
        from ragchat.answering.server import ServerHealth

        try:
            return self.workspace.server_health()
        except Exception as error:  # noqa: BLE001, RUF100 -- the dot must never freeze
            told, host = as_ragchat_error(error), self._settings.ollama.host
            return ServerHealth(host, loopback=True, reachable=False, problem=told.message, hint=told.hint)
