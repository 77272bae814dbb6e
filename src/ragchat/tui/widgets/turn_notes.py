"""The words around an answer: how it ended, what its sources are worth, why a question was refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from ragchat.answering.coverage import coverage_line
from ragchat.answering.past_gate import past_gate_line
from ragchat.answering.receipt import receipt_line
from ragchat.answering.refusal import admitting
from ragchat.answering.turn import TurnSource, dropped_by, source_of
from ragchat.tui.empty import KINDS
from ragchat.tui.formatting import beginning, one_line, quoted, shown, with_keys
from ragchat.tui.keys import key_for
from ragchat.tui.offers import Offer, offer_of

if TYPE_CHECKING:
    from ragchat.answering.events import Answer
    from ragchat.answering.turn import Turn
    from ragchat.errors import RagchatError
    from ragchat.retrieval.trace import RetrievalTrace

_QUIET = "$quiet"
_NO_EVIDENCE = "the passages that were sent are listed, but are no evidence"
_WHEN_WHOLE = "asked again by itself when all notes are indexed"
_ASK_AGAIN = "not all notes are indexed yet: ask again later for the others"
_CUT = "the server cut the prompt: what it cut was not read, so do not trust this answer"
NOT_ANSWERED = "✗ not answered"
_STOP = Content.styled("■", "$warning")


@dataclass(frozen=True, slots=True)
class Line:
    """One note: a short label and the words beside it. passing: it holds only until the index is whole."""

    label: Content
    words: Content
    passing: bool = False


def _key(key: str) -> Content:
    return Content.styled(key, "$accent")


def outcome_of_answer(answer: Answer) -> Content:
    """ "qwen3:4b · 3.1 s" and the like."""
    seconds = answer.timings_ms.get("total", 0.0) / 1000
    line = _outcome(answer.outcome, answer.answered_by, answer.model, answer.abstained, seconds)
    return line + Content.styled(
        f" · {shown(coverage_line(answer.trace.coverage, str(answer.trace.filters)))}", _QUIET
    )


def outcome_of_turn(turn: Turn) -> Content:
    """The same for an earlier turn, with when it was asked."""
    line = (
        _outcome(turn.outcome, turn.answered_by, turn.model, turn.abstained, turn.seconds)
        if turn.was_asked
        else Content.styled(NOT_ANSWERED, _QUIET)
    )
    return line + Content.styled(f" · {shown(turn.asked_at[:16].replace('T', ' '))}", _QUIET)


def _outcome(outcome: str, answered_by: str, model: str | None, abstained: bool, seconds: float) -> Content:
    by = {"model": shown(model or "model"), "quotation": "quotation, word for word", "none": ""}[answered_by]
    glyph = {
        "answered": ("○ the sources lack the answer", "$warning") if abstained else ("", ""),
        "refused": ("✗ refused", "$error"),
        "stopped": ("■ stopped", "$warning"),
        "failed": ("✗ broke off", "$error"),
    }[outcome]
    took = f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
    rest = " · ".join(part for part in (by, took) if part)
    return Content.assemble(glyph, (f"{' · ' if glyph[0] else ''}{rest}", _QUIET))


def notes_of_answer(answer: Answer) -> list[Line]:
    """What the reader must know below the answer."""
    lines: list[Line] = []
    if answer.outcome == "refused" and dropped_by(answer.trace):
        lines.append(_wrong(beginning(answer.message or "", characters=240)))
    elif answer.outcome == "refused":
        lines += _refusal(answer.message or "", answer.trace)
    elif answer.message:
        lines.append(_look(answer.message))
    if answer.outcome == "stopped":
        lines.append(Line(_STOP, Content("stopped by you: the part above is kept")))
    if answer.error:
        lines.append(_wrong(answer.error))
    if told := past_gate_line(answer.trace):
        lines.append(_look(told))
    if answer.invalid_citations:
        marks = ", ".join(f"[{number}]" for number in answer.invalid_citations)
        lines.append(_wrong(f"no source has the number {marks}"))
    if answer.abstained:
        lines.append(_look(_NO_EVIDENCE))
    if answer.context is not None and answer.context.truncated:
        lines.append(_look(_CUT))
    if answer.notice:
        lines.append(_look(with_keys(answer.notice)))
    offer = offer_of(answer)
    if answer.hint and (offer is None or offer.kind == "admit"):
        lines.append(_next(answer.hint))
    if answer.trace.coverage.pending:
        waiting = _look(_WHEN_WHOLE if answer.outcome == "refused" else _ASK_AGAIN)
        lines.append(replace(waiting, passing=True))
    if offer is not None and offer.kind != "admit":
        lines.append(_offered(offer))
    if receipt := receipt_line(answer):
        lines.append(_receipt(receipt))
    return lines


def notes_of_turn(turn: Turn) -> list[Line]:
    """The same for an earlier turn."""
    lines: list[Line] = []
    if turn.outcome == "refused" and turn.nearest is not None:
        lines.append(_verdict(turn.message or ""))
        lines += _nearest(turn.nearest, turn.threshold, turn.threshold_from)
    elif turn.message:
        refused = turn.outcome == "refused"
        lines.append(_wrong(beginning(turn.message, characters=240)) if refused else _look(turn.message))
    if turn.error:
        lines.append(_wrong(turn.error))
    if turn.hint and not turn.was_asked:
        lines.append(_next(turn.hint))
    if turn.past_gate:
        lines.append(_look(turn.past_gate))
    if turn.abstained:
        lines.append(_look(_NO_EVIDENCE))
    if turn.truncated:
        lines.append(_look(_CUT))
    if turn.dropped and turn.outcome == "refused":
        lines += [_look(turn.notice), _next(turn.hint)]
    if turn.receipt:
        lines.append(_receipt(turn.receipt))
    return lines


def notes_of_error(error: RagchatError) -> list[Line]:
    """Why the question could not be asked, and the next step."""
    return [_wrong(error.message), *([_next(error.hint)] if error.hint else [])]


def _wrong(words: str) -> Line:
    return Line(Content.styled("✗", "$error"), Content(shown(words)))


def _look(words: str) -> Line:
    return Line(Content.styled("▲", "$warning"), Content(shown(words)))


def _next(command: str) -> Line:
    return Line(Content.styled("next", _QUIET), Content.styled(with_keys(command), "bold"))


def _offered(offer: Offer) -> Line:
    """The key that does something about it."""
    words = (
        f"gets {shown(offer.model)} now"
        if offer.kind == "pull"
        else f"asks again with room for {offer.answer_tokens:,} tokens of answer"
    )
    take = Style.from_meta({"@click": "screen.take_offer"})
    return Line(_key(key_for("chat.take_offer")), Content.assemble((words, take)))


def _receipt(receipt: str) -> Line:
    return Line(Content.styled("sent", _QUIET), Content.styled(shown(receipt), _QUIET))


def _refusal(message: str, trace: RetrievalTrace) -> list[Line]:
    """The message, the nearest passage, what would have admitted it, and the two ways on."""
    verdict = _verdict(message)
    candidate = trace.nearest_candidate
    if candidate is None:
        if trace.filters:
            return [verdict, _look(f"no passage of the notes lies in {trace.filters}")]
        if not trace.coverage.total:
            return [verdict, Line(_key(key_for("chat.reindex")), Content(f"reads the folder again: {KINDS}"))]
        return [verdict, _look("nothing in the notes resembles it at all")]
    nearest = source_of(candidate, number=0, cited=False)
    inspect = Style.from_meta({"@click": "screen.inspect"})
    lines = [
        verdict,
        *_nearest(nearest, trace.threshold.value, trace.threshold.told_from),
        Line(
            _key(key_for("chat.inspect")),
            Content.assemble((f"shows all {len(trace.candidates)} candidates", inspect)),
        ),
    ]
    if trace.literal is not None:
        admit = Style.from_meta({"@click": "screen.take_offer"})
        offer = f"answers from where “{one_line(trace.literal.term, 60)}” stands word for word: "
        lines.append(
            Line(
                _key(key_for("chat.take_offer")),
                Content.assemble(
                    (offer, admit), *_passage(source_of(trace.literal.candidate, number=0, cited=False))
                ),
            )
        )
    return lines


def _verdict(message: str) -> Line:
    return Line(Content.styled("✗", "$error"), Content.styled(beginning(message, characters=240), "bold"))


def _nearest(nearest: TurnSource, threshold: float, threshold_from: str) -> list[Line]:
    """The nearest passage, and what would have admitted it."""
    origin = shown(threshold_from).replace(" %", "\N{NO-BREAK SPACE}%")
    return [
        Line(
            Content("nearest"),
            Content.assemble(
                *_passage(nearest),
                (f" at {nearest.distance:.3f}", "bold"),
                (f"  “{quoted(nearest.quote, 110)}”", _QUIET),
            ),
        ),
        Line(
            Content("why"),
            Content.assemble(
                f"a threshold of {admitting(nearest.distance):.3f} would admit it; it is {threshold:.3f} ",
                (f"({origin})" if origin else "", _QUIET),
            ),
        ),
    ]


def _passage(source: TurnSource) -> list[tuple[str, str]]:
    section = one_line(source.section, 200)
    parts = [(one_line(source.document, 120), "bold")]
    if section:
        parts.append((f" · {section}", ""))
    return parts
