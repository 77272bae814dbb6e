"""The questions of one session: each is answered, kept and held against its sources in a thread."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
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
        self._refused_so_far: dict[int, Asked] = {}

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
            asked = self._refused_so_far.pop(run)
            stop = self._stopped = threading.Event()
            self._session.post(AskedAgain(self._session, run))
            self._ask(run, asked, stop)
            if stop.is_set():
                self._refused_so_far.clear()

    def _answer(self, run: int, asked: Asked, stop: threading.Event) -> None:
        self._ask(run, asked, stop)
        self.ask_again()

    def _ask(self, run: int, asked: Asked, stop: threading.Event) -> None:
        from ragchat.answering.events import Finished

        session = self._session
        try:
            for event in self._events(run, asked, stop):
                if not isinstance(event, Finished):
                    session.post(AnswerMoved(session, run, event))
                    continue
                kept = self._keep(run, event.answer)
                self._remember_refusal(run, asked, event.answer)
                self.asking = False
                session.post(AnswerMoved(session, run, event))
                check_answer(session, run, event.answer, kept)
        except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
            session.post(AskFailed(session, run, as_ragchat_error(error)))
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

    def _remember_refusal(self, run: int, asked: Asked, answer: Answer) -> None:
        """What was not found in a part of the notes is looked for again when all are there."""
        if answer.outcome == "refused" and answer.trace.coverage.pending:
            self._refused_so_far[run] = asked

    def _keep(self, run: int, answer: Answer) -> Kept | None:
        session = self._session
        try:
            conversation = session.talks.current
            turn = conversation.keep(answer)
        except RagchatError as error:
            session.post(Noted(session, f"this turn was not kept: {error.message}", "error"))
            return None
        session.post(TurnKept(session, run, turn))
        return Kept(conversation, turn)
