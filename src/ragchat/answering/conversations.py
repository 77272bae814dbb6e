"""All conversations of one folder: listed, searched, begun, branched. Each is one file."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ragchat.answering.conversation import Conversation
from ragchat.errors import UsageError

FIRST = "conversation"
"""The folder's first conversation lies beside the index, where versions with only one kept it."""
_ID = re.compile(r"[0-9a-f-]{6,40}")


@dataclass(frozen=True, slots=True)
class Summary:
    """One line of a list. used_at: local time of the last turn or renaming."""

    id: str
    title: str
    turns: int
    used_at: datetime


class Conversations:
    """data_dir: the folder's own. Reads what is there at each call, since other processes write too."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir

    def latest(self) -> Conversation:
        """The one that was used last; the first one while there is none."""
        used = max(self._paths(), key=_used, default=None)
        return Conversation(used or self._path(FIRST))

    def begin(self) -> Conversation:
        """A new one; its file comes with its first turn."""
        return Conversation(self._path(f"{datetime.now():%Y%m%d-%H%M%S}-{uuid.uuid4().hex[:6]}"))

    def open(self, name: str) -> Conversation:
        """The one of that id. Raises UsageError where there is none."""
        if name != FIRST and not _ID.fullmatch(name):
            raise UsageError(f"{name} names no conversation")
        return Conversation(self._path(name))

    def summaries(self, words: str = "") -> tuple[Summary, ...]:
        """Those in which all the words occur, in title, question or answer; the last used first.

        Raises StorageFailed.
        """
        wanted = words.casefold().split()
        found = []
        for path in sorted(self._paths(), key=_used, reverse=True):
            conversation = Conversation(path)
            turns, title = conversation.turns(), conversation.title()
            said = "\n".join([title, *(f"{turn.question}\n{turn.text or ''}" for turn in turns)]).casefold()
            if turns and all(word in said for word in wanted):
                used_at = datetime.fromtimestamp(_used(path)).astimezone()
                found.append(Summary(conversation.id, title, len(turns), used_at))
        return tuple(found)

    def branch(self, conversation: Conversation, turn_id: str) -> Conversation:
        """A new one that begins with the turns up to and including this one. Raises StorageFailed."""
        branched = self.begin()
        conversation.copy_up_to(turn_id, branched)
        title = conversation.title()
        if title:
            branched.rename(f"{title} (branch)")
        return branched

    def _path(self, name: str) -> Path:
        if name == FIRST:
            return self._data_dir / f"{FIRST}.jsonl"
        return self._data_dir / "conversations" / f"{name}.jsonl"

    def _paths(self) -> Iterator[Path]:
        first = self._path(FIRST)
        if first.exists():
            yield first
        yield from (self._data_dir / "conversations").glob("*.jsonl")


def _used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # it has gone since
        return 0.0
