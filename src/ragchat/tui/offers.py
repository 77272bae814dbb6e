"""What one key (ctrl+g) would do about a turn that did not come out: at most one thing for each turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ragchat.answering.events import Answer


@dataclass(frozen=True, slots=True)
class Offer:
    """admit: ask again and let these chunks through; more: with `answer_tokens`; pull: get `model`."""

    kind: Literal["admit", "more", "pull"]
    question: str = ""
    admit: frozenset[int] = frozenset()
    answer_tokens: int = 0
    model: str = ""
    follows: str = ""


def offer_of(answer: Answer) -> Offer | None:
    """What can be done about this answer."""
    trace = answer.trace
    if answer.outcome == "refused" and trace.literal is not None:
        admit = frozenset({trace.literal.candidate.chunk_id})
        return Offer("admit", answer.question, admit=admit, follows=trace.asked_before)
    if answer.more_tokens:
        more = answer.more_tokens
        return Offer("more", answer.question, answer_tokens=more, follows=trace.asked_before)
    return Offer("pull", model=answer.pull) if answer.pull else None
