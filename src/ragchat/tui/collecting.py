"""Collects questions in use: which range answers, what must be refused; each can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ragchat.errors import RagchatError
from ragchat.tui.formatting import count, one_line
from ragchat.tui.messages import Noted

if TYPE_CHECKING:
    from ragchat.evaluation.collection import Collection, Marked
    from ragchat.tui.session import Session

_ANSWERS: dict[Marked, str] = {
    "added": "Kept as an answer to",
    "span added": "Kept as a further part of the answer to",
    "span replaced": "Kept instead of the wider or narrower range, as an answer to",
    "replaced": "Kept as an answer, no longer as to be refused:",
    "unchanged": "That is already kept as an answer to",
}
_REFUSED: dict[Marked, str] = {
    "added": "Kept as to be refused:",
    "replaced": "Kept as to be refused, no longer as answered:",
    "unchanged": "That is already kept as to be refused:",
}


class Collecting:
    """The folder's collected questions, each change in a thread, and told in one line."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._opened: Collection | None = None

    def mark_answer(self, question: str, document: str, start: int, end: int, evidence: str) -> None:
        """This range answers the question."""

        def mark(collection: Collection) -> str:
            done = collection.mark_answer(question, document, start, end, evidence)
            return self._told(collection, _ANSWERS[done], question, done)

        self._do(mark)

    def mark_refused(self, question: str) -> None:
        """The notes have no answer to the question."""

        def mark(collection: Collection) -> str:
            done = collection.mark_refused(question)
            return self._told(collection, _REFUSED[done], question, done)

        self._do(mark)

    def undo(self) -> None:
        """As it was before the last mark."""

        def undo(collection: Collection) -> str:
            if not collection.undo():
                return "Nothing to take back."
            return f"Taken back. {self._counted(collection)}"

        self._do(undo)

    def _told(self, collection: Collection, done: str, question: str, marked: Marked) -> str:
        undo = "" if marked == "unchanged" else " u takes it back."
        return f"{done} “{one_line(question, 30)}”. {self._counted(collection)}{undo}"

    @staticmethod
    def _counted(collection: Collection) -> str:
        counts = collection.counts()
        return f"{count(counts.answerable, 'answer')}, {count(counts.unanswerable, 'refusal')} collected."

    def _do(self, change: Callable[[Collection], str]) -> None:
        session = self._session

        def work() -> None:
            from ragchat.evaluation.collection import Collection

            if self._opened is None:
                self._opened = Collection(session.folder)
            try:
                session.post(Noted(session, change(self._opened)))
            except RagchatError as error:
                hint = f": {error.hint}" if error.hint else ""
                session.post(Noted(session, f"Not kept: {error.message}{hint}", "error"))

        session.start(work)
