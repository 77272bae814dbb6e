"""The words around an answer: how it ended, what its sources are worth, why a question was refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content
from textual.style import Style

from ragchat.tui.formatting import one_line, section_name, shown

if TYPE_CHECKING:
    from ragchat.answering.conversation import Turn
    from ragchat.answering.events import Answer, Citation
    from ragchat.errors import RagchatError
    from ragchat.retrieval.trace import Candidate, RetrievalTrace

_QUIET = "$quiet"
_Part = tuple[str, str | Style]


def with_invalid_marked(text: str, citations: Sequence[Citation]) -> str:
    """The answer with ✗ behind every mark that names a source there is not."""
    for citation in sorted(citations, key=lambda each: each.end, reverse=True):
        if citation.invalid:
            text = f"{text[: citation.end]}✗{text[citation.end :]}"
    return text


def outcome_of_answer(answer: Answer) -> Content:
    """ "qwen3:4b · 3.1 s" and the like."""
    seconds = answer.timings_ms.get("total", 0.0) / 1000
    return _outcome(answer.outcome, answer.answered_by, answer.model, answer.abstained, seconds)


def outcome_of_turn(turn: Turn) -> Content:
    """The same for an earlier turn, with when it was asked."""
    line = _outcome(turn.outcome, turn.answered_by, turn.model, turn.abstained, turn.seconds)
    return line + Content.styled(f" · {shown(turn.asked_at[:16].replace('T', ' '))}", _QUIET)


def _outcome(outcome: str, answered_by: str, model: str | None, abstained: bool, seconds: float) -> Content:
    by = {"model": shown(model or "model"), "quotation": "quotation, word for word", "none": ""}[answered_by]
    glyph: _Part = {
        "answered": ("○ the sources lack the answer", "$warning") if abstained else ("", ""),
        "refused": ("✗ refused", "$error"),
        "stopped": ("■ stopped", "$warning"),
        "failed": ("✗ broke off", "$error"),
    }[outcome]
    rest = " · ".join(part for part in (by, f"{seconds:.1f} s") if part)
    return Content.assemble(glyph, (f"{' · ' if glyph[0] else ''}{rest}", _QUIET))


def notes_of_answer(answer: Answer) -> Content:
    """What the reader must know below the answer."""
    lines: list[list[_Part]] = []
    if answer.outcome == "refused":
        lines += _refusal(answer.message or "", answer.trace)
    elif answer.message:
        lines.append([("○ ", "$warning"), (shown(answer.message), "")])
    if answer.outcome == "stopped":
        lines.append([("■ stopped here; ", "$warning"), ("the part above is kept", _QUIET)])
    if answer.error:
        lines.append([("✗ ", "$error"), (shown(answer.error), "")])
    if answer.hint:
        lines.append([("  next: ", _QUIET), (shown(answer.hint), "bold")])
    if answer.invalid_citations:
        marks = ", ".join(f"[{number}]" for number in answer.invalid_citations)
        lines.append([("✗ ", "$error"), (f"no source has the number {marks}", "")])
    if answer.abstained:
        lines.append(
            [("○ ", "$warning"), ("the passages that were sent are listed, but are no evidence", "")]
        )
    if answer.context is not None and answer.context.truncated:
        lines.append([("▲ ", "$warning"), ("the server cut the prompt: some sources were not read", "")])
    if answer.notice:
        lines.append([("▲ ", "$warning"), (shown(answer.notice), "")])
    coverage = answer.trace.coverage
    if coverage.stale:
        read, pending = coverage.indexed, coverage.stale
        lines.append(
            [("◐ ", "$accent"), (f"searched {read:,} documents; {pending:,} are still to be read", "")]
        )
    return _join(lines)


def notes_of_turn(turn: Turn) -> Content:
    """The same for an earlier turn."""
    lines: list[list[_Part]] = []
    if turn.message:
        refused = turn.outcome == "refused"
        lines.append(
            [("✗ " if refused else "○ ", "$error" if refused else "$warning"), (shown(turn.message), "")]
        )
    if turn.error:
        lines.append([("✗ ", "$error"), (shown(turn.error), "")])
    if turn.abstained:
        lines.append(
            [("○ ", "$warning"), ("the passages that were sent are listed, but are no evidence", "")]
        )
    return _join(lines)


def notes_of_error(error: RagchatError) -> Content:
    """Why the question could not be asked, and the next step."""
    lines: list[list[_Part]] = [[("✗ ", "$error"), (shown(error.message), "")]]
    if error.hint:
        lines.append([("  next: ", _QUIET), (shown(error.hint), "bold")])
    return _join(lines)


def _refusal(message: str, trace: RetrievalTrace) -> list[list[_Part]]:
    lines: list[list[_Part]] = [[("✗ ", "$error"), (shown(message), "bold")]]
    if trace.nearest is None:
        lines.append([("  nothing in the notes shares a word or a meaning with it", _QUIET)])
        return lines
    nearest = min(trace.candidates, key=lambda candidate: candidate.distance)
    lines.append([("  nearest  ", _QUIET), *_passage(nearest), (f" at {nearest.distance:.3f}", "bold")])
    lines.append([(f"           “{one_line(nearest.chunk.content, 110)}”", _QUIET)])
    threshold = trace.threshold
    origin = f"{threshold.origin}: {shown(threshold.detail)}" if threshold.detail else threshold.origin
    lines.append(
        [
            ("  why      ", _QUIET),
            (
                f"a threshold of {_ceiling(nearest.distance):.3f} would admit it; "
                f"it is {threshold.value:.3f}",
                "",
            ),
            (f" ({origin})", _QUIET),
        ]
    )
    inspect = Style.from_meta({"@click": "screen.inspect"})
    lines.append([("  ctrl+e   ", "$accent"), (f"shows all {len(trace.candidates)} candidates", inspect)])
    if trace.literal is not None:
        admit = Style.from_meta({"@click": "screen.admit"})
        lines.append(
            [
                ("  ctrl+g   ", "$accent"),
                (
                    f"answers from the note where “{one_line(trace.literal.term, 60)}” stands literally: ",
                    admit,
                ),
                *_passage(trace.literal.candidate),
            ]
        )
    return lines


def _ceiling(distance: float) -> float:
    """The smallest threshold of three decimals that admits this distance."""
    rounded = round(distance, 3)
    return rounded if rounded >= distance else rounded + 0.001


def _passage(candidate: Candidate) -> list[_Part]:
    section = section_name(candidate.chunk.section)
    parts: list[_Part] = [(one_line(candidate.chunk.document, 120), "bold")]
    if section:
        parts.append((f" · {section}", ""))
    return parts


def _join(lines: Sequence[Sequence[_Part]]) -> Content:
    return Content("\n").join(Content.assemble(*line) for line in lines)
