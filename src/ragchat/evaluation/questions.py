"""Questions with their gold: where in the notes the answer stands, or that it must be refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Nearness = Literal["near", "far"]


@dataclass(frozen=True, slots=True)
class Gold:
    """One span that answers: half-open code point range of the document's canonical text."""

    document: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Question:
    """One phrasing of one question.

    golds: the spans of its answer, the first one foremost, all wanted; () where it must be refused.
    group: phrasings with the same group are one question to the statistics.
    kind: why it must be refused; "" for an answerable one.
    """

    id: str
    text: str
    golds: tuple[Gold, ...]
    group: str
    kind: str = ""

    @property
    def answerable(self) -> bool:
        """Whether the notes hold its answer."""
        return bool(self.golds)

    @property
    def nearness(self) -> Nearness | None:
        """Of a question to be refused: "near" where its kind begins so (a near miss), else "far"."""
        if self.answerable:
            return None
        return "near" if self.kind.strip().lower().startswith("near") else "far"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with one record of a question file: where, what, what to do."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions that can be asked, and the records that could not be used.

    digest: sha256 of the files' bytes.
    """

    questions: tuple[Question, ...]
    problems: tuple[Problem, ...]
    digest: str

    @property
    def answerable(self) -> tuple[Question, ...]:
        """Those that the notes answer."""
        return tuple(question for question in self.questions if question.answerable)

    @property
    def unanswerable(self) -> tuple[Question, ...]:
        """Those that must be refused."""
        return tuple(question for question in self.questions if not question.answerable)


def thinned(questions: Sequence[Question], limit: int) -> tuple[Question, ...]:
    """At most `limit` of each sort (answerable, near, far), spread evenly over the file; groups stay whole.

    0 keeps all. The same questions come out every time.
    """
    if limit <= 0:
        return tuple(questions)
    kept: set[str] = set()
    for sort in (None, "near", "far"):
        groups = list(dict.fromkeys(q.group for q in questions if q.nearness == sort))
        step = max(1.0, len(groups) / limit)
        kept.update(groups[int(place * step)] for place in range(min(limit, len(groups))))
    return tuple(question for question in questions if question.group in kept)


def of_notes(questions: Sequence[Question], admits: Callable[[str], bool]) -> tuple[Question, ...]:
    """Those whose whole answer stands in notes that are admitted, and all that must be refused."""
    return tuple(question for question in questions if all(admits(gold.document) for gold in question.golds))
