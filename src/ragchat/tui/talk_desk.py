"""The conversations of one session: which one is open, and what is done to them, each in a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ragchat.errors import RagchatError
from ragchat.tui.messages import ConversationRead, Noted, TurnForgotten

if TYPE_CHECKING:
    from ragchat.answering.conversation import Conversation
    from ragchat.answering.conversations import Summary
    from ragchat.tui.session import Session


class TalkDesk:
    """summaries: what was found last, None before anything was looked for."""

    def __init__(self, session: Session) -> None:
        self.summaries: tuple[Summary, ...] | None = None
        self._session = session
        self._current: Conversation | None = None
        self._words = ""

    @property
    def current(self) -> Conversation:
        """Where turns are kept now: the one that was used last, until another is opened."""
        if self._current is None:
            self._current = self._session.workspace.conversation()
        return self._current

    def look(self, words: str = "") -> None:
        """Find those with these words; the last search counts."""
        self._words = words
        self._do(lambda: self._look(words))

    def begin(self) -> None:
        """A new one."""
        self._do(lambda: self._open(self._session.workspace.conversations().begin()))

    def resume(self, name: str) -> None:
        """Go on with an earlier one."""
        self._do(lambda: self._open(self._session.workspace.conversations().open(name)))

    def branch(self, turn_id: str) -> None:
        """Go on in a new one that begins with the turns up to this one."""
        self._do(lambda: self._open(self._session.workspace.conversations().branch(self.current, turn_id)))

    def rename(self, name: str, title: str) -> None:
        """Give one a title."""

        def rename() -> None:
            self._session.workspace.conversations().open(name).rename(title)
            self._look(self._words)

        self._do(rename)

    def forget(self, name: str) -> None:
        """Delete one; a new one follows the open one."""

        def forget() -> None:
            conversations = self._session.workspace.conversations()
            conversations.open(name).clear()
            self._look(self._words)
            if name == self.current.id:
                self._open(conversations.begin())

        self._do(forget)

    def forget_turn(self, turn_id: str) -> None:
        """Delete one turn of the open one."""

        def forget_turn() -> None:
            self.current.delete(turn_id)
            self._session.post(TurnForgotten(self._session, turn_id))

        self._do(forget_turn)

    def _do(self, work: Callable[[], None]) -> None:
        def told() -> None:
            try:
                work()
            except RagchatError as error:
                self._session.post(Noted(self._session, error.message, "error"))

        self._session.start(told)

    def _open(self, conversation: Conversation) -> None:
        turns = conversation.turns()
        self._current = conversation
        self._session.post(ConversationRead(self._session, turns))

    def _look(self, words: str) -> None:
        found = self._session.workspace.conversations().summaries(words)
        if words == self._words:
            self.summaries = found
