"""The conversation of one folder: kept as it happens, exported to Markdown.

A turn keeps what was shown, so that an old answer can be read again exactly; it is never evidence for a new
question.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from ragchat.answering.events import Answer
from ragchat.answering.receipt import receipt_line
from ragchat.errors import StorageFailed
from ragchat.paths import make_private_dir
from ragchat.retrieval.trace import Candidate, RetrievalTrace


@dataclass(frozen=True, slots=True)
class TurnSource:
    """One numbered source as it was shown. also_in: other documents with the same content."""

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
    also_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and what came of it.

    asked_at: ISO 8601 with the local offset. receipt: `receipt_line` of the answer.
    dropped: evidence that did not fit the model's window, numbered 0. truncated: the server cut the prompt.
    notice, hint: as in `Answer`.
    """

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
    receipt: str = ""
    dropped: tuple[TurnSource, ...] = ()
    truncated: bool = False
    notice: str = ""
    hint: str = ""


class Conversation:
    """Turns of one folder in a private file; a turn that was kept survives a kill."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()

    def turns(self) -> tuple[Turn, ...]:
        """All kept turns, oldest first; a damaged line is skipped."""
        try:
            lines = self.path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _not_kept(self.path, error) from error
        return tuple(turn for line in lines if (turn := _read_turn(line)) is not None)

    def questions(self) -> tuple[str, ...]:
        """What was asked, oldest first, a question repeated at once only once."""
        asked = [turn.question for turn in self.turns()]
        return tuple(q for before, q in zip([None, *asked], asked, strict=False) if q != before)

    def keep(self, answer: Answer) -> Turn:
        """Append a turn durably. Raises StorageFailed."""
        turn = _turn_of(answer)
        line = json.dumps(asdict(turn)).encode("ascii") + b"\n"
        with self._lock:
            try:
                make_private_dir(self.path.parent)
                self._append(line)
            except OSError as error:
                raise _not_kept(self.path, error) from error
        return turn

    def clear(self) -> None:
        """Forget every turn. Raises StorageFailed."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            raise _not_kept(self.path, error) from error

    def export_markdown(self, folder: Path) -> str:
        """The whole conversation as Markdown, each `[n]` with its document, section and range."""
        from ragchat.answering.export import export_markdown

        return export_markdown(self.turns(), folder)

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


def _turn_of(answer: Answer) -> Turn:
    trace = answer.trace
    return Turn(
        asked_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        question=answer.question,
        outcome=answer.outcome,
        text=answer.text,
        message=answer.message,
        answered_by=answer.answered_by,
        model=answer.model,
        abstained=answer.abstained,
        sources=tuple(
            source_of(source, number=number, cited=number in answer.cited)
            for number, source in enumerate(trace.sources, start=1)
        ),
        threshold=trace.threshold.value,
        seconds=answer.timings_ms.get("total", 0.0) / 1000.0,
        error=answer.error,
        receipt=receipt_line(answer),
        dropped=tuple(source_of(each, number=0, cited=False) for each in dropped_by(trace)),
        truncated=answer.context is not None and answer.context.truncated,
        notice=answer.notice,
        hint=answer.hint,
    )


def source_of(candidate: Candidate, *, number: int, cited: bool) -> TurnSource:
    """A candidate as it is shown and kept."""
    chunk = candidate.chunk
    return TurnSource(
        number=number,
        document=chunk.document,
        section=" > ".join(chunk.section),
        start=chunk.start,
        end=chunk.end,
        first_line=chunk.first_line,
        last_line=chunk.last_line,
        locator=chunk.locator,
        distance=candidate.distance,
        quote=chunk.content,
        cited=cited,
        also_in=candidate.also_in,
    )


def dropped_by(trace: RetrievalTrace) -> tuple[Candidate, ...]:
    """Evidence that did not fit the model's window, best first."""
    return tuple(candidate for candidate in trace.candidates if candidate.verdict == "did not fit")


def _read_turn(line: bytes) -> Turn | None:
    """A turn that this or a later version wrote; None for a damaged line."""
    try:
        kept = json.loads(line)
        sources, dropped = (tuple(map(_read_source, kept.get(key, ()))) for key in ("sources", "dropped"))
        turn = Turn(**{**_known(Turn, kept), "sources": sources, "dropped": dropped})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return turn if isinstance(turn.question, str) and isinstance(turn.text, str | None) else None


def _read_source(kept: Mapping[str, Any]) -> TurnSource:
    known = _known(TurnSource, kept)
    return TurnSource(**{**known, "also_in": tuple(known.get("also_in", ()))})


def _known(kind: type[Turn | TurnSource], kept: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in kept.items() if name in names}


def _not_kept(path: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"the conversation at {path} cannot be used: {error.strerror}", hint="ragchat paths; free space?"
    )
