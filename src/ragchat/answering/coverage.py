"""In how much of the folder a question was searched: counted when it is asked, told with every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragchat.answering.escape import escape_line

if TYPE_CHECKING:
    from ragchat.index.protocol import Coverage


class Changes(NamedTuple):
    """What the folder holds that the index does not know: notes edited or deleted since, and new ones."""

    changed: int = 0
    new: int = 0


def coverage_line(coverage: Coverage, filters: str = "") -> str:
    """`searched 412 of 415 notes, 3 failed, 2 changed since`; `searched 12 of 412 notes (in:house/)`."""
    searched = coverage.indexed + coverage.by_words
    of = "" if searched == coverage.total else f" of {coverage.total:,}"
    notes = "note" if coverage.total == 1 else "notes"
    among = f" ({escape_line(filters)})" if filters else ""
    unread = coverage.pending - coverage.by_words
    counts = (
        (coverage.by_words, "by their words alone so far"),
        (unread, "not read yet"),
        (coverage.failed, "failed"),
        (coverage.stale, "to be read anew"),
        (coverage.changed, "changed since"),
    )
    told = [f"{count:,} {word}" for count, word in counts if count]
    return ", ".join([f"searched {searched:,}{of} {notes}{among}", *told])
