"""What is held against the notes after an answer: its sentences, and a source in its document."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

from ragchat.errors import RagchatError
from ragchat.tui.messages import AnswerChecked, Noted, SpanVerified

if TYPE_CHECKING:
    from ragchat.answering.conversation import Conversation
    from ragchat.answering.events import Answer
    from ragchat.answering.turn import Turn, TurnSource
    from ragchat.tui.session import Session


class Kept(NamedTuple):
    """An answer as it was kept, and where: another conversation may be open by now."""

    conversation: Conversation
    turn: Turn


def check_answer(session: Session, run: int, answer: Answer, kept: Kept | None) -> None:
    """Post and keep which sentences are found in the sources they cite; nothing where that cannot be told."""
    from ragchat.answering.support import check_support

    if answer.answered_by != "model" or not answer.citations:
        return
    try:
        support = check_support(answer, session.workspace.embedder())
    except Exception:  # noqa: BLE001, RUF100 -- the answer stands without it
        return
    if not support:
        return
    session.post(AnswerChecked(session, run, support))
    if kept is not None:
        try:
            kept.conversation.keep_support(kept.turn.id, support)
        except RagchatError as error:
            session.post(Noted(session, f"the marks of this answer were not kept: {error.message}", "error"))


def verify(session: Session, source: TurnSource, post: Callable[[Message], object]) -> None:
    """Post what became of a source in its note; None where that cannot be told: it is gone."""
    try:
        span = session.workspace.verify(source.document, source.start, source.end, source.quote)
    except Exception:  # noqa: BLE001, RUF100 -- the viewer says that it is gone
        span = None
    with suppress(RuntimeError):  # the screen has gone; the folder stays open
        post(SpanVerified(session, source, span))
