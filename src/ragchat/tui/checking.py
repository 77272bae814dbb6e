"""What is held against the notes after an answer: its sentences, and a source in its document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from ragchat.tui.messages import AnswerChecked, SpanVerified

if TYPE_CHECKING:
    from ragchat.answering.events import Answer
    from ragchat.answering.turn import TurnSource
    from ragchat.tui.session import Session


def check_answer(session: Session, run: int, answer: Answer) -> None:
    """Post which sentences are found in the sources they cite; nothing where that cannot be told."""
    from ragchat.answering.support import check_support

    if answer.answered_by != "model" or not answer.citations:
        return
    try:
        support = check_support(answer, session.workspace.embedder())
    except Exception:  # noqa: BLE001, RUF100 -- the answer stands without it
        return
    if support:
        session.post(AnswerChecked(session, run, support))


def verify(session: Session, source: TurnSource, post: Callable[[Message], object]) -> None:
    """Post what became of a source in its note; None where that cannot be told: it is gone."""
    try:
        span = session.workspace.verify(source.document, source.start, source.end, source.quote)
    except Exception:  # noqa: BLE001, RUF100 -- the viewer says that it is gone
        span = None
    try:
        post(SpanVerified(session, source, span))
    except RuntimeError:  # the screen has gone
        session.closing.set()
