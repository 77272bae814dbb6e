"""The conversation of one folder: kept as it happens, exported to Markdown.

A turn keeps what was shown, so that an old answer can be read again exactly; it is never evidence for a new
question.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragchat.answering.events import Answer


@dataclass(frozen=True, slots=True)
class TurnSource:
    """One numbered source as it was shown."""

    number: int
    document: str
    section: str
    start: int
    end: int
    first_line: int
    last_line: int
    locator: str
    distance: float
    quote: str
    cited: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and what came of it. asked_at: ISO 8601 with the local offset."""

    asked_at: str
    question: str
    outcome: Literal["answered", "refused", "stopped", "failed"]
    text: str | None
    message: str | None
    answered_by: Literal["model", "quotation", "none"]
    model: str | None
    abstained: bool
    sources: tuple[TurnSource, ...]
    threshold: float
    seconds: float
    error: str = ""


class Conversation:
    """Turns of one folder in a private file; a turn that was kept survives a kill."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def turns(self) -> tuple[Turn, ...]:
        """All kept turns, oldest first; a damaged line is skipped."""
        raise NotImplementedError

    def keep(self, answer: Answer) -> Turn:
        """Append a turn durably. Raises StorageFailed."""
        raise NotImplementedError

    def clear(self) -> None:
        """Forget every turn."""
        raise NotImplementedError

    def export_markdown(self, folder: Path) -> str:
        """The whole conversation as Markdown, each `[n]` with its document, section and range."""
        raise NotImplementedError
