"""Keeps the index of an open folder up to date: when it is opened, when asked to, and after every edit."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from ragchat.errors import IndexLocked, RagchatError, SetupError
from ragchat.tui.messages import FolderStirred, IndexDone, IndexFailed, IndexMoved, Noted

if TYPE_CHECKING:
    from ragchat.tui.session import Session

_ANOTHERS_TURN_SECONDS = 1.0
"""After so long it is tried again to index what another process was indexing."""


def as_ragchat_error(error: Exception) -> RagchatError:
    """Ours as it is; a stranger with its name, so that the screen always has one clear line."""
    if isinstance(error, RagchatError):
        return error
    return SetupError(f"{type(error).__name__}: {error}", hint="ragchat doctor")


class Following:
    """Works in threads of its own, and posts what it finds.

    indexing: whether a pass is going on; is_following: because notes have changed. is_whole: whether the last
    one left nothing to do. stop: ends the pass; what was indexed stays.
    """

    def __init__(
        self,
        session: Session,
        start: Callable[[Callable[[], None]], object],
        post: Callable[[Message], None],
        closing: threading.Event,
    ) -> None:
        self.indexing = False
        self.is_following = False
        self.is_whole = False
        self.stop = threading.Event()
        self._session = session
        self._start = start
        self._post = post
        self._closing = closing
        self._beginning = threading.Lock()
        self._again = False
        self._is_watching = False
        self._is_told = False

    def index(self, *, rebuild: bool = False, retry: bool = False, following: bool = False) -> None:
        """Begin a pass, unless one is going on: then what changes meanwhile is looked for afterwards."""
        with self._beginning:
            if self.indexing or not self._session.is_open:
                self._again = self._again or following
                return
            self.indexing, self.is_whole, self.is_following = True, False, following
        self.stop.clear()
        self._start(lambda: self._index(rebuild=rebuild, retry=retry, following=following))

    def _index(self, *, rebuild: bool, retry: bool, following: bool) -> None:
        session, workspace = self._session, self._session.workspace
        if not self._is_watching and not workspace.is_shared:
            self._is_watching = True
            self._start(self._watch)
        try:
            report = workspace.update(
                rebuild=rebuild,
                retry=retry,
                on_progress=lambda progress: self._post(IndexMoved(session, progress)),
                cancel=self.stop,
            )
            status = workspace.status()
        except IndexLocked as error:
            # Another process does the same, perhaps without this edit.
            if not following:
                self._post(IndexFailed(session, error))
            self._closing.wait(_ANOTHERS_TURN_SECONDS)
            self._end(look_again=True)
        except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
            self._end(IndexFailed(session, as_ragchat_error(error)))
        else:
            self.is_whole = report.complete
            self._end(IndexDone(session, report, status, is_following=following))
            session.questions.ask_again()

    def _end(self, news: Message | None = None, *, look_again: bool = False) -> None:
        """Tell how it ended; go on at once where the notes have changed meanwhile."""
        with self._beginning:
            self.indexing, again, self._again = False, self._again or look_again, False
        if self._closing.is_set():
            return
        if news is not None:
            self._post(news)
        if again:
            self._post(FolderStirred(self._session))
            self.index(following=True)
        else:
            self._session.workspace.is_watched = self._is_told and self.is_whole

    def _watch(self) -> None:
        """What stirs the folder is indexed as soon as it is at rest."""
        self._is_told = True
        try:
            self._session.workspace.watch(
                self._closing,
                on_stir=self._stir,
                on_change=lambda: self.index(following=True),
                on_poll=self._poll,
            )
        except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
            self._poll(f"it cannot be watched ({error})")

    def _stir(self) -> None:
        self._session.workspace.is_watched = False
        self._post(FolderStirred(self._session))

    def _poll(self, reason: str) -> None:
        self._is_told = self._session.workspace.is_watched = False
        told = f"This folder is looked through again and again instead of watched: {reason}."
        self._post(Noted(self._session, told))
