"""One conversation: kept as it happens, exported to Markdown.

A turn keeps what was shown, so that an old answer can be read again exactly; it is never evidence for a new
question. Turns are appended and synced one by one; what changes otherwise is written anew beside the file and
then put in its place. So a kill at any moment leaves the file as it was before or as it is afterwards.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ragchat.answering.escape import escape_line
from ragchat.answering.events import Answer, Support
from ragchat.answering.turn import (
    Turn,
    line_of,
    read_support_line,
    read_turn,
    support_line,
    turn_of,
    unasked_turn,
    with_support,
)
from ragchat.errors import RagchatError, StorageFailed
from ragchat.paths import make_private_dir

_LOCK_SECONDS = 5.0
_TITLE_CHARACTERS = 120


class Conversation:
    """Turns in a private file, which several processes may write; there is none before the first turn."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def id(self) -> str:
        """Tells the conversations of one folder apart."""
        return self.path.stem

    def turns(self) -> tuple[Turn, ...]:
        """All kept turns, oldest first; a damaged line is skipped. Raises StorageFailed."""
        turns: list[Turn] = []
        place: dict[str, int] = {}
        for line in self._lines():
            if (marks := read_support_line(line)) is not None:
                if (at := place.get(marks[0])) is not None:
                    turns[at] = with_support(turns[at], marks[1])
            elif (turn := read_turn(line)) is not None:
                place[turn.id] = len(turns)
                turns.append(turn)
        return tuple(turns)

    def title(self) -> str:
        """What it was named, else its first question, else ""."""
        first = ""
        named = ""
        for line in self._lines():
            if (title := _read_title(line)) is not None:
                named = title
            elif not first and (turn := read_turn(line)) is not None:
                first = turn.question
        return named or escape_line(" ".join(first.split()))[:_TITLE_CHARACTERS]

    def questions(self) -> tuple[str, ...]:
        """What was asked, oldest first, a question repeated at once only once."""
        asked = [turn.question for turn in self.turns()]
        return tuple(q for before, q in zip([None, *asked], asked, strict=False) if q != before)

    def keep(self, answer: Answer, support: Sequence[Support] = ()) -> Turn:
        """Append a turn durably. Raises StorageFailed."""
        turn = turn_of(answer, support)
        with self._writing():
            self._append(line_of(turn))
        return turn

    def keep_unasked(self, question: str, follows: str, error: RagchatError) -> Turn:
        """Append a question that could not be asked, with why. Raises StorageFailed."""
        turn = unasked_turn(question, follows, error)
        with self._writing():
            self._append(line_of(turn))
        return turn

    def keep_instead(self, turn_id: str, answer: Answer) -> Turn | None:
        """Put the answer in the place of a turn; nothing, and None, where that was deleted.

        Raises StorageFailed.
        """
        turn = turn_of(answer)
        with self._writing():
            if not any(each.id == turn_id for each in self.turns()):
                return None
            self._rewrite(turn_id, line_of(turn))
        return turn

    def keep_support(self, turn_id: str, support: Sequence[Support]) -> None:
        """Append how the sentences of a kept turn stood against their sources; nothing for one deleted since.

        Raises StorageFailed.
        """
        with self._writing():
            if any(turn.id == turn_id for turn in self.turns()):
                self._append(support_line(turn_id, support))

    def rename(self, title: str) -> None:
        """Name it; "" takes the name away. Raises StorageFailed."""
        title = escape_line(" ".join(title.split()))[:_TITLE_CHARACTERS]
        with self._writing():
            self._append(json.dumps({"title": title}).encode("ascii") + b"\n")

    def delete(self, turn_id: str) -> None:
        """Forget one turn: its words are gone from the disk too. Raises StorageFailed."""
        with self._writing():
            self._rewrite(turn_id)

    def copy_up_to(self, turn_id: str, target: Conversation) -> None:
        """Write the turns up to and including this one into another conversation. Raises StorageFailed."""
        turns = self.turns()
        last = next((at for at, turn in enumerate(turns) if turn.id == turn_id), len(turns) - 1)
        with target._writing():
            target._replace([line_of(turn) for turn in turns[: last + 1]])

    def clear(self) -> None:
        """Forget every turn. Raises StorageFailed."""
        with self._writing():
            self.path.unlink(missing_ok=True)

    def export_markdown(self, folder: Path) -> str:
        """The whole conversation as Markdown, each `[n]` with its document, section and range."""
        from ragchat.answering.export import export_markdown

        return export_markdown(self.turns(), folder)

    def _lines(self) -> list[bytes]:
        try:
            return self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _not_kept(self.path, error) from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Alone among all processes; an OSError becomes StorageFailed."""
        from filelock import FileLock, Timeout

        try:
            make_private_dir(self.path.parent)
            with FileLock(self.path.parent / ".conversations.lock", timeout=_LOCK_SECONDS, mode=0o600):
                yield
        except Timeout as error:
            busy = f"another ragchat has been writing {self.path.parent} for {_LOCK_SECONDS:.0f} s"
            raise StorageFailed(busy, hint="try again") from error
        except OSError as error:
            raise _not_kept(self.path, error) from error

    def _rewrite(self, turn_id: str, instead: bytes = b"") -> None:
        """Every line but those of this turn, and `instead` where its first one was."""
        lines: list[bytes] = []
        for line in self._lines():
            if line and _turn_of_line(line) != turn_id:
                lines.append(line + b"\n")
            elif line and instead:
                lines.append(instead)
                instead = b""
        self._replace(lines)

    def _replace(self, lines: list[bytes]) -> None:
        partial = self.path.with_suffix(f".{os.getpid()}.part")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self.path)

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                # A kill in mid-write leaves half a line: it must not swallow the next turn.
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line)
            os.fsync(file.fileno())


def _turn_of_line(line: bytes) -> str | None:
    """The id of the turn that a line is or belongs to."""
    if (support := read_support_line(line)) is not None:
        return support[0]
    turn = read_turn(line)
    return turn.id if turn is not None else None


def _read_title(line: bytes) -> str | None:
    if not line.startswith(b'{"title"'):
        return None
    try:
        title = json.loads(line)["title"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return title if isinstance(title, str) else None


def _not_kept(path: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"the conversation at {path} cannot be used: {error.strerror}", hint="ragchat paths; free space?"
    )
