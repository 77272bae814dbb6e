"""The questions of one session: each is answered, kept and held against its sources in a thread."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragchat.errors import IndexMissing, RagchatError
from ragchat.tui.checking import Kept, check_answer
from ragchat.tui.following import as_ragchat_error
from ragchat.tui.messages import AnswerMoved, AskedAgain, AskFailed, AskWaits, Noted, TurnKept

if TYPE_CHECKING:
    from ragchat.answering.events import Answer, AnswerEvent
    from ragchat.tui.session import Session

_CLOSING_SECONDS = 0.15
"""How long leaving waits for a stopped answer to be kept."""
_READING_SECONDS = 0.1
"""How often a question that came before any note was read looks whether it can be asked."""


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


class QuestionDesk:
    """asking: whether an answer is on its way."""

    def __init__(self, session: Session) -> None:
        self.asking = False
        self._session = session
        self._runs = itertools.count(1)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._refused_so_far: dict[int, tuple[Asked, Kept | None]] = {}

    def begin(self) -> int:
        """A question is coming, and can be stopped from now on. Returns the run that its events carry."""
        self.asking = True
        self._session.models.make_way()
        self._stopped = threading.Event()
        return next(self._runs)

    def answer(self, run: int, asked: Asked) -> None:
        """Start answering what was begun."""
        stop = self._stopped
        self._thread = self._session.start(lambda: self._answer(run, asked, stop))

    def stop(self) -> None:
        """The partial answer stays and comes marked as stopped."""
        self._stopped.set()

    def close(self) -> None:
        """Wait a moment for a stopped answer to be kept."""
        if self._thread is not None:
            self._thread.join(_CLOSING_SECONDS)

    def ask_again(self) -> None:
        """What was refused over a part of the notes, over all of them; esc stops it."""
        while self._session.following.is_whole and self._refused_so_far and not self.asking:
            self.asking = True
            run = next(iter(self._refused_so_far))
            asked, refusal = self._refused_so_far.pop(run)
            stop = self._stopped = threading.Event()
            self._session.post(AskedAgain(self._session, run))
            self._ask(run, asked, stop, refusal)
            if stop.is_set():
                self._refused_so_far.clear()

    def _answer(self, run: int, asked: Asked, stop: threading.Event) -> None:
        self._ask(run, asked, stop)
        self.ask_again()

    def _ask(self, run: int, asked: Asked, stop: threading.Event, refusal: Kept | None = None) -> None:
        from ragchat.answering.events import Finished

        session = self._session
        try:
            for event in self._events(run, asked, stop):
                if not isinstance(event, Finished):
                    session.post(AnswerMoved(session, run, event))
                    continue
                kept = self._keep(run, event.answer, refusal)
                self._remember_refusal(run, asked, event.answer, kept)
                self.asking = False
                session.post(AnswerMoved(session, run, event))
                check_answer(session, run, event.answer, kept)
        except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
            told = as_ragchat_error(error)
            if refusal is None:  # else what was found out before stands
                self._keep_unasked(run, asked, told)
            session.post(AskFailed(session, run, told))
        finally:
            self.asking = False

    def _events(self, run: int, asked: Asked, stop: threading.Event) -> Iterator[AnswerEvent]:
        """What the assistant tells; a question that came before any note was read waits for one."""
        session = self._session
        while True:
            soon = session.reads_soon  # looked at first: what is read by now is found below
            try:
                yield from session.workspace.assistant().ask(
                    asked.question,
                    admit=asked.admit,
                    cancel=stop,
                    answer_tokens=asked.answer_tokens,
                    follows=asked.follows,
                )
            except IndexMissing:
                if not soon or stop.is_set():
                    raise
                session.post(AskWaits(session, run))
                stop.wait(_READING_SECONDS)
            else:
                return

    def _remember_refusal(self, run: int, asked: Asked, answer: Answer, kept: Kept | None) -> None:
        """What was not found in a part of the notes is looked for again when all are there."""
        if answer.outcome == "refused" and answer.trace.coverage.pending:
            self._refused_so_far[run] = asked, kept

    def _keep(self, run: int, answer: Answer, refusal: Kept | None) -> Kept | None:
        """refusal: the turn whose place it takes, which may be in another conversation than the open one."""

        def keep() -> Kept | None:
            if refusal is None:
                conversation = self._session.talks.current
                return Kept(conversation, conversation.keep(answer))
            turn = refusal.conversation.keep_instead(refusal.turn.id, answer)
            return Kept(refusal.conversation, turn) if turn is not None else None

        return self._kept(run, keep)

    def _keep_unasked(self, run: int, asked: Asked, error: RagchatError) -> None:
        """A question that could not be asked is not lost either."""

        def keep() -> Kept:
            conversation = self._session.talks.current
            return Kept(conversation, conversation.keep_unasked(asked.question, asked.follows, error))

        self._kept(run, keep)

    def _kept(self, run: int, keep: Callable[[], Kept | None]) -> Kept | None:
        try:
            kept = keep()
        except RagchatError as error:
            self._session.post(Noted(self._session, f"this turn was not kept: {error.message}", "error"))
            return None
        if kept is not None:
            self._session.post(TurnKept(self._session, run, kept.turn))
        return kept
