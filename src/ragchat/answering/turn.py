"""One question and what came of it, as it is kept: a line of JSON that later versions can read."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal

from ragchat.answering.events import Answer
from ragchat.answering.receipt import receipt_line
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
    notice, hint: as in `Answer`. follows: the question that this one was asked after, "" for none.
    id: tells the turns of one conversation apart.
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
    follows: str = ""
    id: str = ""


def turn_of(answer: Answer) -> Turn:
    """The answer as it is kept from now on."""
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
        follows=answer.trace.follows,
        id=uuid.uuid4().hex[:12],
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


def line_of(turn: Turn) -> bytes:
    """As it is kept."""
    return json.dumps(asdict(turn)).encode("ascii") + b"\n"


def read_turn(line: bytes) -> Turn | None:
    """A turn that this or a later version wrote; None for a damaged line."""
    try:
        kept = json.loads(line)
        sources, dropped = (tuple(map(_read_source, kept.get(key, ()))) for key in ("sources", "dropped"))
        named = kept.get("id") or hashlib.sha256(line).hexdigest()[:12]
        turn = Turn(**{**_known(Turn, kept), "sources": sources, "dropped": dropped, "id": named})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return turn if isinstance(turn.question, str) and isinstance(turn.text, str | None) else None


def _read_source(kept: Mapping[str, Any]) -> TurnSource:
    known = _known(TurnSource, kept)
    return TurnSource(**{**known, "also_in": tuple(known.get("also_in", ()))})


def _known(kind: type[Turn | TurnSource], kept: Mapping[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in kept.items() if name in names}
