"""One open folder and the threads that work for it; no widget is touched here.

The threads are daemons with cancel events of their own, because leaving must never wait for a silent server
or a batch of embeddings. What they find they post as messages.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from ragchat.errors import IndexCorrupt, IndexMissing, RagchatError, SetupError
from ragchat.tui.following import Following, as_ragchat_error
from ragchat.tui.messages import (
    AnswerMoved,
    AskedAgain,
    AskFailed,
    AskWaits,
    Confirm,
    ConversationRead,
    FolderFailed,
    FolderOpened,
    IndexFailed,
    Noted,
    ServerChecked,
    TurnKept,
)
from ragchat.tui.model_desk import ModelDesk
from ragchat.tui.talk_desk import TalkDesk

if TYPE_CHECKING:
    from ragchat.answering.events import Answer, AnswerEvent
    from ragchat.answering.server import ServerHealth
    from ragchat.answering.turn import TurnSource
    from ragchat.answering.workspace import Workspace
    from ragchat.settings import Settings
    from ragchat.tui.collecting import Collecting
    from ragchat.tui.tuning import Tuning

WorkspaceFactory = Callable[[Path, "Settings"], "Workspace"]
Post = Callable[[Message], object]

HEALTH_EVERY_SECONDS = 15.0
_CLOSING_SECONDS = 0.15
"""How long leaving waits for a stopped answer to be kept."""
_READING_SECONDS = 0.1
"""How often a question that came before any note was read looks whether it can be asked."""


def real_workspace(folder: Path, settings: Settings) -> Workspace:
    """The workspace of the answering room, imported only when a folder is opened."""
    from ragchat.answering.workspace import Workspace

    return Workspace(folder, settings)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question.

    admit: chunks let through by hand. answer_tokens: more room than the settings give.
    follows: the question that it is searched together with.
    """

    question: str
    admit: frozenset[int] = frozenset()
    answer_tokens: int = 0
    follows: str = ""


class Session:
    """Opens a workspace in a thread and serves the screen from it."""

    def __init__(
        self, folder: Path, settings: Settings, open_workspace: WorkspaceFactory, post: Post
    ) -> None:
        self.folder = folder
        self.opening = False
        self.asking = False
        self._reads_soon = False
        self._settings = settings
        self._open_workspace = open_workspace
        self._send = post
        self._workspace: Workspace | None = None
        self._runs = itertools.count(1)
        self._closing = threading.Event()
        self._stop_answer = threading.Event()
        self._answer_thread: threading.Thread | None = None
        self._server_due = threading.Event()
        self._refused_so_far: dict[int, Asked] = {}
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

    def index(self, *, rebuild: bool = False, retry: bool = False) -> None:
        """Bring the index up to date, unless that is going on already."""
        self.following.index(rebuild=rebuild, retry=retry)

    def stop_indexing(self) -> None:
        """What was indexed stays; the rest is pending."""
        self.following.stop.set()

    def begin(self) -> int:
        """A question is coming, and can be stopped from now on. Returns the run that its events carry."""
        self.asking = True
        self.models.make_way()
        self._stop_answer = threading.Event()
        return next(self._runs)

    def answer(self, run: int, asked: Asked) -> None:
        """Start answering what was begun."""
        cancel = self._stop_answer
        self._answer_thread = self.start(lambda: self._answer(run, asked, cancel))

    def stop_answer(self) -> None:
        """The partial answer stays and comes marked as stopped."""
        self._stop_answer.set()

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
        self._stop_answer.set()
        self.following.stop.set()
        self.models.close()
        self._server_due.set()

    def close(self) -> None:
        """Stop everything; waits only a moment, for a stopped answer to be kept."""
        self.stop()
        if self._answer_thread is not None:
            self._answer_thread.join(_CLOSING_SECONDS)
        if self._workspace is not None and not self.indexing and not self.asking:
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
            self._workspace, self.opening = workspace, False
            self.post(IndexFailed(self, error))
            self.start(self._watch_server)
            return
        except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
            self.opening = False
            self.post(FolderFailed(self, as_ragchat_error(error)))
            return
        confirm = survey is not None and survey.confirm
        # A library is searched as it is until somebody asks for its index.
        self._reads_soon = not confirm and not workspace.is_shared
        self._workspace, self.opening = workspace, False
        self.post(FolderOpened(self, status, model))
        self.start(self._watch_server)
        if survey is not None and confirm:
            self.post(Confirm(self, survey))
        elif self._reads_soon:
            self.index()
            self._reads_soon = False

    def _answer(self, run: int, asked: Asked, cancel: threading.Event) -> None:
        self._ask(run, asked, cancel)
        self.ask_again()

    def ask_again(self) -> None:
        """What was refused over a part of the notes, over all of them; esc stops it."""
        while self.following.is_whole and self._refused_so_far and not self.asking:
            self.asking = True
            run = next(iter(self._refused_so_far))
            asked = self._refused_so_far.pop(run)
            cancel = self._stop_answer = threading.Event()
            self.post(AskedAgain(self, run))
            self._ask(run, asked, cancel)
            if cancel.is_set():
                self._refused_so_far.clear()

    def _ask(self, run: int, asked: Asked, cancel: threading.Event) -> None:
        from ragchat.answering.events import Finished
        from ragchat.tui.checking import check_answer

        try:
            for event in self._events(run, asked, cancel):
                if isinstance(event, Finished):
                    self._keep(run, event.answer)
                    self._remember_refusal(run, asked, event.answer)
                    self.asking = False
                self.post(AnswerMoved(self, run, event))
                if isinstance(event, Finished):
                    check_answer(self, run, event.answer)
        except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
            self.post(AskFailed(self, run, as_ragchat_error(error)))
        finally:
            self.asking = False

    def _events(self, run: int, asked: Asked, cancel: threading.Event) -> Iterator[AnswerEvent]:
        """What the assistant tells; a question that came before any note was read waits for one."""
        while True:
            soon = self._reads_soon or self.indexing  # looked at first: what is read by now is found below
            try:
                yield from self.workspace.assistant().ask(
                    asked.question,
                    admit=asked.admit,
                    cancel=cancel,
                    answer_tokens=asked.answer_tokens,
                    follows=asked.follows,
                )
            except IndexMissing:
                if not soon or cancel.is_set():
                    raise
                self.post(AskWaits(self, run))
                cancel.wait(_READING_SECONDS)
            else:
                return

    def _remember_refusal(self, run: int, asked: Asked, answer: Answer) -> None:
        """What was not found in a part of the notes is looked for again when all are there."""
        if answer.outcome == "refused" and answer.trace.coverage.pending:
            self._refused_so_far[run] = asked

    def _keep(self, run: int, answer: Answer) -> None:
        try:
            turn = self.talks.current.keep(answer)
            self.post(TurnKept(self, run, turn))
        except RagchatError as error:
            self.post(Noted(self, f"this turn was not kept: {error.message}", "error"))

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
