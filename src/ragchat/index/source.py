"""What the index knows of a file."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NamedTuple

from ragchat.documents.dates import date_in_name

DocumentState = Literal["indexed", "failed", "stale"]


class Source(NamedTuple):
    """What the index knows of a file, so that an unchanged one is not read again.

    A tuple, because ten thousand are made for every question.

    extractor: name and version of what read it; a change makes only its own documents stale.
    checked_ns: when its content was last read, in ns since the epoch. A file modified within seconds of that
        may have been edited again without a new modification time.
    revision: grows with each replacement; 0 where the index has no document of this name.
    has_gaps: whether something of it could not be read.
    tags, dated: as in `Document`; nothing for a failed file.
    """

    name: str
    size: int
    modified_ns: int
    digest: str
    extractor: str
    state: DocumentState
    checked_ns: int = 0
    revision: int = 0
    has_gaps: bool = False
    tags: tuple[str, ...] = ()
    dated: str = ""

    @property
    def day(self) -> str:
        """The day that it is of, "2025-01-31": by its own words, else by its name, else by its last change.

        "" for a time of change that is no date.
        """
        return self.dated or date_in_name(self.name) or _day_of(self.modified_ns)


def _day_of(modified_ns: int) -> str:
    """In the time zone of whoever asks."""
    try:
        return datetime.fromtimestamp(modified_ns / 1e9).astimezone().date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
