"""What a reader in a process of its own is told beside the bytes of its file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ragchat.documents.document import Document, FailedDocument

RESAVE = "open it in its own program and save it again, then: ragchat index --retry"
NOTHING_TO_DO = "nothing is to be done; list it in .ragchatignore if it is not to be told"
PASSWORD = "save a copy without the password, or list it in .ragchatignore"


class UnreadableError(Exception):
    """A document that cannot be read; reason and hint are for the user."""

    def __init__(self, reason: str, hint: str = RESAVE) -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


def _unheard() -> None:
    """Nobody waits."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read.

    languages: of the words in pictures, as Tesseract names them, "eng+jpn"; "" reads no pictures.
    confidence: percent; a page that Tesseract reads with less is failed rather than guessed.
    progressed: to be called after each page or so: a reader that is heard of gets its time anew.
    """

    languages: str = "eng"
    confidence: int = 60
    progressed: Callable[[], None] = _unheard


class Parser(Protocol):
    """A format that is read in the process that asks."""

    def __call__(self, data: bytes, name: str, digest: str) -> Document | FailedDocument:
        """The document that the bytes make, or why they make none; an UnreadableError says that too."""


class IsolatedParser(Protocol):
    """A format whose library may hang, crash or fill the memory, and is run in a process of its own."""

    def __call__(self, data: bytes, name: str, digest: str, reading: Reading) -> Document | FailedDocument:
        """The document that the bytes make, or why they make none; an UnreadableError says that too."""
