"""The words of the inspector: what the line makes of the question, and of the passage under the cursor."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from textual.content import Content

from ragchat.index.tokens import tokenize
from ragchat.retrieval.words import ASKING_WORDS, whole_words
from ragchat.tui.formatting import count, one_line, section_name

if TYPE_CHECKING:
    from ragchat.answering.events import Answer
    from ragchat.retrieval.trace import Candidate
    from ragchat.tui.inspection import Inspection

_TIMED = {
    "embed": "embed",
    "search": "search",
    "rerank": "rerank",
    "first_token": "first token",
    "total": "total",
}
_MEANINGS = {  # of a shift down, of a shift up
    "length": ("a short question is near to anything", "a long question is near to nothing"),
    "wording": ("a passage says hardly a word of the question", "a passage says the question's words"),
    "telling words": ("the question's rare words are not met", "the question's rare words are met"),
    "standing out": ("the nearest is no nearer than many others", "the nearest stands out from the others"),
    "limit": ("passages beyond this are as far as unrelated ones", "what is this near always passes"),
    "order by words": ("", "the model cannot read this script, so words decide"),
}
_WORD = re.compile(r"\w+(?:[-.']\w+)*")
_ROWS = 3
"""Rungs of the ladder that are told."""


def head_of(inspection: Inspection, answer: Answer | None) -> Content:
    """The question, the outcome under the line, why, and how long it took."""
    trace, threshold = inspection.trace, inspection.trace.threshold
    sent = sum(each.verdict == "sent" for each in inspection.judged())
    question = Content.styled(one_line(trace.question, 300), "bold")
    if inspection.is_moved:
        outcome = Content.assemble(
            ("▲ ", "$warning"),
            (f"{threshold.value:.3f} → {inspection.value:.3f} ({inspection.shift:+.3f})", "bold"),
            f": {sent or 'nothing'} instead of {len(trace.sources) or 'nothing'} would be sent",
            (" · set: ask again" if inspection.is_set else " · nothing is kept", "$quiet"),
        )
    elif trace.refused:
        outcome = Content.assemble(("✗ refused", "bold $error"), f": {_why(inspection)}")
    else:
        considered = count(len(trace.candidates), "candidate")
        outcome = Content.assemble(("✓ ", "$success"), (f"{sent} sent", "bold"), f" of {considered}")
    lines = [question, outcome, _ladder(inspection, sent), *_measured(inspection, answer)]
    return Content("\n").join(lines)


def _why(inspection: Inspection) -> str:
    trace = inspection.trace
    if trace.nearest is None:
        return "nothing in the notes resembles it at all"
    if trace.nearest <= trace.threshold.value:
        return "it is near enough, but not one source fits the model's window"
    beyond = trace.nearest - trace.threshold.value
    return f"the nearest of {len(trace.candidates)} is at {trace.nearest:.3f}, {beyond:.3f} beyond the line"


def _ladder(inspection: Inspection, sent: int) -> Content:
    """Which thresholds would send more."""
    rungs = inspection.ladder(_ROWS)
    if not rungs:
        why = f"{sent} is the most that is sent" if sent == inspection.limit else "no line would send more"
        return Content.styled(why, "$quiet")
    told = " · ".join(f"{value:.3f} sends {number}" for value, number in rungs)
    return Content.assemble(("a line at ", "$quiet"), told)


def _measured(inspection: Inspection, answer: Answer | None) -> list[Content]:
    """Where the threshold comes from, and what took how long."""
    threshold = inspection.trace.threshold
    timings = dict(answer.timings_ms if answer is not None else inspection.trace.timings_ms)
    told = " · ".join(f"{name} {_took(timings[key])}" for key, name in _TIMED.items() if key in timings)
    story = f": {one_line(threshold.story, 120)}" if threshold.story else ""
    lines = [f"threshold {threshold.value:.3f}, {threshold.origin}{story}", *([told] if told else [])]
    if since := inspection.moved_since:
        lines[0] += f" · every threshold has moved by {since:+.3f} since: ask again"
    return [Content.styled(line, "$quiet") for line in lines]


def _took(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def detail_of(inspection: Inspection, candidate: Candidate | None) -> Content:
    """Where the passage is, what the line makes of it and why, and its words."""
    if candidate is None:
        if not inspection.trace.candidates:
            return Content("There was nothing to consider: no note resembles the question.")
        return _reasons(inspection)
    section = section_name(candidate.chunk.section)
    where = [(one_line(candidate.chunk.document, 200), "bold")]
    if section:
        where.append((f" · {section}", "$secondary"))
    also = f" · also in {one_line(', '.join(candidate.also_in), 200)}" if candidate.also_in else ""
    return Content.assemble(
        *where,
        (also, "$quiet"),
        f"\n{_verdict(inspection, candidate)}\n",
        _words_of_question(one_line(candidate.chunk.content, 700), inspection.trace.question),
    )


def _words_of_question(text: str, question: str) -> Content:
    """The passage with the question's words marked, so that one sees why it was found."""
    wanted = whole_words(tokenize(question)) - ASKING_WORDS
    parts: list[tuple[str, str]] = []
    at = 0
    for word in _WORD.finditer(text):
        if wanted & set(tokenize(word[0])):
            parts += [(text[at : word.start()], "$quiet"), (word[0], "bold")]
            at = word.end()
    return Content.assemble("“", *parts, (text[at:], "$quiet"), "”")


def _reasons(inspection: Inspection) -> Content:
    """Where the line stands and why, each shift in plain words."""
    threshold = inspection.trace.threshold
    lines = [
        "What stands above the line is near enough to be sent, what stands below is too far.",
    ]
    if threshold.folders is not None:
        lines.append(f"{threshold.folders:.3f}  in this folder ({threshold.origin})")
        lines += [
            f"{part.shift:+.3f}  {_meaning(part.name, up=part.shift > 0)}" for part in threshold.shown_parts
        ]
        lines.append(f"{threshold.value:.3f}  the line")
    elif threshold.detail:
        lines.append(f"{threshold.value:.3f}  {threshold.origin}: {one_line(threshold.detail, 160)}")
    return Content("\n".join(lines))


def _meaning(name: str, *, up: bool) -> str:
    if name in _MEANINGS:
        return _MEANINGS[name][up]
    if name.startswith("literal "):
        return f"{one_line(name.removeprefix('literal '), 60)} stands word for word in a note"
    return one_line(name, 60)


def _verdict(inspection: Inspection, candidate: Candidate) -> str:
    apart = abs(candidate.distance - inspection.value)
    match candidate.verdict:
        case "sent" if candidate.distance > inspection.value:
            return f"✓ sent as [{candidate.number}]: you let it through by hand"
        case "sent":
            return f"✓ sent as [{candidate.number}]: {apart:.3f} within the line"
        case "beyond top k":
            return f"· near enough, but {inspection.limit} better placed ones are sent"
        case "duplicate":
            return "≡ says the same as a better placed one, or overlaps with it"
        case "did not fit":
            return "▭ near enough, but the model's window had no room for it"
        case "too far":
            return f"✗ {_admitting(inspection, candidate, apart)}"


def _admitting(inspection: Inspection, candidate: Candidate, apart: float) -> str:
    if math.isnan(candidate.distance):
        return "its distance is no number, so no line admits it"
    needed = inspection.admits(candidate)
    if needed is None:
        return f"{apart:.3f} beyond the line; even admitted, better placed ones would be sent instead"
    return f"{apart:.3f} beyond the line; a threshold of {needed:.3f} would admit it"
