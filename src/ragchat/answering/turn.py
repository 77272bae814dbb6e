"""One question and what came of it, as it is kept: a line of JSON that later versions can read."""

from __future__ import annotations

import hashlib
import json
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from typing import Any, Literal, get_args

from ragchat.answering.events import Answer, Support
from ragchat.answering.past_gate import past_gate_line
from ragchat.answering.receipt import receipt_line
from ragchat.errors import RagchatError
from ragchat.retrieval.trace import Candidate, RetrievalTrace

Outcome = Literal["answered", "refused", "stopped", "failed"]
AnsweredBy = Literal["model", "quotation", "none"]


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

    @property
    def citation(self) -> str:
        """As `ragchat show` takes it: `house/lease.md#char=68,166`."""
        return f"{self.document}#char={self.start},{self.end}"


@dataclass(frozen=True, slots=True)
class Turn:
    """One question and what came of it.

    asked_at: ISO 8601 with the local offset. receipt: `receipt_line` of the answer.
    dropped: evidence that did not fit the model's window, numbered 0. truncated: the server cut the prompt.
    notice, hint: as in `Answer`. follows: the question that this one was asked after, "" for none; it and
        `question` are the user's own words, filters included.
    threshold: NaN where the question could not be asked at all.
    threshold_from: where it comes from, "auto: 0.471 in this folder, wording +0.12".
    nearest: of a refusal the passage that came nearest, numbered 0.
    past_gate: `past_gate_line` of what was asked.
    id: tells the turns of one conversation apart. support: how its sentences stood against the sources that
        they cite, when it was answered; () where that was not compared.
    """

    asked_at: str
    question: str
    outcome: Outcome
    text: str | None
    message: str | None
    answered_by: AnsweredBy
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
    support: tuple[Support, ...] = ()
    threshold_from: str = ""
    nearest: TurnSource | None = None
    past_gate: str = ""

    @property
    def was_asked(self) -> bool:
        """Whether the notes were searched for it."""
        return not math.isnan(self.threshold)


def turn_of(answer: Answer, support: Sequence[Support] = ()) -> Turn:
    """The answer as it is kept from now on."""
    trace = answer.trace
    nearest = trace.nearest_candidate if answer.outcome == "refused" and not dropped_by(trace) else None
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
        follows=trace.asked_before,
        id=uuid.uuid4().hex[:12],
        support=tuple(support),
        threshold_from=trace.threshold.told_from,
        nearest=None if nearest is None else source_of(nearest, number=0, cited=False),
        past_gate=past_gate_line(trace),
    )


def unasked_turn(question: str, follows: str, error: RagchatError) -> Turn:
    """A question that could not be asked, with why: a filter that names nothing, an index that is missing."""
    return Turn(
        asked_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        question=question,
        outcome="failed",
        text=None,
        message=None,
        answered_by="none",
        model=None,
        abstained=False,
        sources=(),
        threshold=math.nan,
        seconds=0.0,
        error=error.message,
        hint=error.hint,
        follows=follows,
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
        nearest = None if kept.get("nearest") is None else _read_source(kept["nearest"])
        named = kept.get("id") or hashlib.sha256(line).hexdigest()[:12]
        support = kept.pop("support", ())  # what is wrong with marks costs the marks alone
        known = {
            **_known(Turn, kept),
            "sources": sources,
            "dropped": dropped,
            "nearest": nearest,
            "id": named,
        }
        turn = with_support(Turn(**known), support)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return turn if [source.number for source in sources] == list(range(1, len(sources) + 1)) else None


def support_line(turn_id: str, support: Sequence[Support]) -> bytes:
    """What was compared after the turn was kept, as a line of its own."""
    kept = {"support_of": turn_id, "support": [asdict(each) for each in support]}
    return json.dumps(kept).encode("ascii") + b"\n"


def read_support_line(line: bytes) -> tuple[str, Sequence[Any]] | None:
    """The turn's id and its support as `with_support` takes it; None for any other line."""
    if not line.startswith(b'{"support_of"'):
        return None
    try:
        kept = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(kept.get("support_of"), str) and isinstance(kept.get("support"), list)
    return (kept["support_of"], kept["support"]) if known else None


def with_support(turn: Turn, kept: Sequence[Any]) -> Turn:
    """The turn with the marks that were kept; without any where they do not fit its text and sources."""
    try:
        support = tuple(
            Support(each["start"], each["end"], tuple(each["numbers"]), each["found"]) for each in kept
        )
        fits = all(_fits(each, turn) for each in support)
    except (TypeError, KeyError):
        return turn
    return replace(turn, support=support) if fits else turn


def _fits(support: Support, turn: Turn) -> bool:
    edges, length = (support.start, support.end), len(turn.text or "")
    return (
        all(type(edge) is int for edge in edges)
        and 0 <= support.start < support.end <= length
        and all(type(number) is int and 1 <= number <= len(turn.sources) for number in support.numbers)
        and isinstance(support.found, bool | None)
    )


def _read_source(kept: Mapping[str, Any]) -> TurnSource:
    known = _known(TurnSource, kept)
    if known["start"] > known["end"]:
        raise ValueError("the range is turned round")
    return TurnSource(**{**known, "also_in": tuple(known.get("also_in", ()))})


def _known(kind: type[Turn | TurnSource], kept: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that this version knows. Raises TypeError for a value that could not be shown."""
    known = {field.name: (kept[field.name], str(field.type)) for field in fields(kind) if field.name in kept}
    for name, (value, kind_of_it) in known.items():
        if not _FITS[kind_of_it](value):
            raise TypeError(f"{name} is no {kind_of_it}")
    return {name: value for name, (value, _) in known.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "str | None": lambda value: isinstance(value, str | None),
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: type(value) is int and 0 <= value < 1 << 53,
    "float": lambda value: _is_number(value) or value != value,
    "Outcome": lambda value: value in get_args(Outcome),
    "AnsweredBy": lambda value: value in get_args(AnsweredBy),
    "tuple[str, ...]": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "tuple[TurnSource, ...]": lambda value: isinstance(value, list),
    "TurnSource | None": lambda value: isinstance(value, dict | None),
}
"""What each kind of field must hold: anybody may have written the file."""
