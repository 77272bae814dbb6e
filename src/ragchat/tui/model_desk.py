"""The models of one session: listed, chosen, pulled, probed, each in a thread that no question waits for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragchat.errors import RagchatError
from ragchat.tui.messages import ModelChosen, PullEnded, PullMoved

if TYPE_CHECKING:
    from ragchat.answering.models import ModelEntry
    from ragchat.embedding.ollama_pull import PullProgress
    from ragchat.tui.session import Session

_POLL = 0.25


@dataclass(frozen=True, slots=True)
class Pull:
    """A download as it stands. progress: None before the server said anything."""

    model: str
    progress: PullProgress | None = None
    running: bool = True


class ModelDesk:
    """entries: what there is to choose, None while that is not known; trouble: why it is not.

    pull: the download that runs or was the last to; a stopped one goes on where it stopped.
    """

    def __init__(self, session: Session) -> None:
        self.entries: tuple[ModelEntry, ...] | None = None
        self.trouble: RagchatError | None = None
        self.pulled: Pull | None = None
        self._session = session
        self._stop_pull = threading.Event()
        self._stop_probe = threading.Event()
        self._probing = ""

    def look(self) -> None:
        """Find out what there is, again."""
        self._session.start(self._look)

    def choose(self, name: str) -> None:
        """Use a model for this folder from now on, and find out whether it can do without thinking."""
        self._session.start(lambda: self._choose(name))

    def pull(self, name: str) -> None:
        """Have the server download a model and then use it, unless a download runs."""
        if self.pulled is not None and self.pulled.running:
            return
        self.pulled = Pull(name)
        stop = self._stop_pull = threading.Event()
        self._session.post(PullMoved(self._session, self.pulled))
        self._session.start(lambda: self._pull(name, stop))

    def stop_pull(self) -> None:
        """What was downloaded stays with the server."""
        self._stop_pull.set()

    def make_way(self) -> None:
        """A question comes: a probe that runs is broken off, and done once more when there is time."""
        self._stop_probe.set()

    def close(self) -> None:
        """Stop everything."""
        self._probing = ""
        self._stop_pull.set()
        self._stop_probe.set()

    def _look(self) -> None:
        try:
            self.entries, self.trouble = self._session.workspace.models(), None
        except RagchatError as error:
            self.entries, self.trouble = None, error

    def _choose(self, name: str) -> None:
        session = self._session
        try:
            session.workspace.remember_model(name)
        except RagchatError as error:
            session.post(ModelChosen(session, name, error))
            return
        session.post(ModelChosen(session, name))
        session.check_server()
        self._probe(name)

    def _pull(self, name: str, stop: threading.Event) -> None:
        session = self._session

        def moved(progress: PullProgress) -> None:
            self.pulled = Pull(name, progress)
            session.post(PullMoved(session, self.pulled))

        installed, error = False, None
        try:
            installed = session.workspace.pull_model(name, on_progress=moved, cancel=stop)
        except RagchatError as caught:
            error = caught
        at = self.pulled.progress if self.pulled is not None else None
        self.pulled = None if installed else Pull(name, at, running=False)
        session.post(PullEnded(session, name, installed=installed, error=error))
        self._look()
        if installed:
            self._choose(name)

    def _probe(self, name: str) -> None:
        """Between questions only: the server answers one at a time."""
        session, self._probing = self._session, name
        while self._probing == name and not session.closing.is_set():
            stop = self._stop_probe = threading.Event()
            if session.questions.asking:
                session.closing.wait(_POLL)
                continue
            try:
                session.workspace.probe_thinking(name, cancel=stop)
            except RagchatError:
                return  # the model is asked to think, which always works
            if not stop.is_set():
                return
