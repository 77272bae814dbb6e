"""A conversation as a Markdown file that other programs read: every `[n]` leads to its place in the notes.

Whatever people and models wrote is escaped so that it cannot become a heading, a link or the end of a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from ragchat.answering.citations import attach_citations, link_citations
from ragchat.answering.escape import escape_control, escape_line
from ragchat.answering.refusal import why_refused
from ragchat.answering.turn import Turn, TurnSource

# What Markdown gives a meaning inside a line, and what some readers make links of.
_MARKUP = re.compile(r"[\\`*_\[\]<>~|&$]|:(?=//)|(?<=mailto):|(?<=[\w-])[.@](?=\w*[A-Za-z])")
_BLOCK_MARKUP = re.compile(r"([ \t]*\d{0,9})([-+=#.)])")
_ANSWERED_BY = {"quotation": "Quoted from the notes, no model was asked.", "none": ""}


def export_markdown(turns: Sequence[Turn], folder: Path) -> str:
    """The turns, oldest first. folder: where the notes lie; links are absolute file addresses below it."""
    title = f"# Conversation about {_plain(str(folder))}\n"
    return "\n".join([title, *(_turn(turn, folder) for turn in turns)])


def _turn(turn: Turn, folder: Path) -> str:
    parts = [f"## {_plain(turn.question)}", f"*{_facts(turn)}*"]
    if turn.follows:
        parts.append(f"*Searched together with: {_plain(turn.follows)}*")
    if turn.outcome == "refused":
        parts += [_plain(turn.message or "NO ANSWER"), *_refused(turn, folder)]
    if turn.text:
        parts.append(_answer(turn, folder))
    if turn.past_gate:
        parts.append(f"*{_plain(turn.past_gate)}*")
    if turn.outcome == "stopped":
        parts.append("*Stopped: the answer is not whole.*")
    if turn.outcome == "failed":
        parts.append(f"*{'Failed' if turn.was_asked else 'Not asked'}: {_plain(turn.error)}*")
    if any(each.found is not None for each in turn.support):
        parts.append(f"*{_support(turn)}*")
    if turn.abstained:
        parts.append("*The model found no answer in these sources.*")
    if turn.sources:
        parts.append("\n".join(_source(source, folder) for source in turn.sources))
    if turn.dropped:
        names = ", ".join(f"{source.document}#char={source.start},{source.end}" for source in turn.dropped)
        parts.append(f"*Did not fit the model's window: {_plain(names)}*")
    if turn.truncated:
        parts.append("*The server cut the prompt: not every source was read.*")
    if turn.receipt:
        parts.append(f"*Sent: {_plain(turn.receipt)}*")
    return "\n\n".join(parts) + "\n"


def _facts(turn: Turn) -> str:
    by = turn.model if turn.answered_by == "model" and turn.model else _ANSWERED_BY.get(turn.answered_by, "")
    threshold = f"cosine distance at most {turn.threshold:.3f}" if turn.was_asked else ""
    return ", ".join(_plain(fact) for fact in (turn.asked_at, by.rstrip("."), threshold) if fact)


def _refused(turn: Turn, folder: Path) -> list[str]:
    """What came nearest, and what would have let it pass; nothing where that was not kept."""
    nearest = turn.nearest
    if nearest is None:
        return []
    where = f"#char={nearest.start},{nearest.end}, lines {nearest.first_line}–{nearest.last_line}"
    name = f"[{_plain(nearest.document)}](<{_address(nearest, folder)}>)"
    details = " · ".join(_plain(part) for part in (nearest.section, where, nearest.locator) if part)
    quoted = [f"> {_plain(line)}".rstrip() for line in escape_control(nearest.quote).split("\n")]
    return [
        f"Nearest: {name} · {details} · distance {nearest.distance:.3f}",
        "\n".join(quoted),
        f"*{_plain(why_refused(nearest.distance, turn.threshold, turn.threshold_from))}*",
    ]


def _answer(turn: Turn, folder: Path) -> str:
    """In a block quotation, which ends an open code fence with the answer that left it open."""
    targets = {source.number: _address(source, folder) for source in turn.sources}
    text = turn.text or ""
    if turn.answered_by == "quotation":
        text = re.sub(r"(?s)(.+?)( \[\d+\])(\n\n|\Z)", lambda m: f"{_paragraph(m[1])}{m[2]}{m[3]}", text)
    citations = () if turn.abstained else attach_citations(text, len(turn.sources))
    linked = link_citations(text, citations, lambda number: targets[number])
    return "\n".join(f"> {line}".rstrip() for line in linked.split("\n"))


def _support(turn: Turn) -> str:
    """How many of the sentences that cite are found where they cite, and which are not."""
    cited = [each for each in turn.support if each.found is not None]
    missing = [(turn.text or "")[each.start : each.end] for each in cited if not each.found]
    told = f"{len(cited) - len(missing)} of {len(cited)} sentences found in the source they cite"
    return f"{told}; not: {_plain(' / '.join(missing))}" if missing else told


def _paragraph(words: str) -> str:
    return " ".join(_plain(line) for line in words.split("\n"))


def _source(source: TurnSource, folder: Path) -> str:
    where = f"#char={source.start},{source.end}, lines {source.first_line}–{source.last_line}"
    details = [_plain(part) for part in (source.section, where, source.locator) if part]
    cited = "" if source.cited else ", not cited"
    name = f"[{_plain(source.document)}](<{_address(source, folder)}>)"
    head = f"{source.number}. {name} · {' · '.join(details)} · distance {source.distance:.3f}{cited}"
    shown = escape_control(source.quote).split("\n")
    return "\n".join([head, "", *(f"   > {_plain(line)}".rstrip() for line in shown), ""])


def _address(source: TurnSource, folder: Path) -> str:
    path = (folder / source.document).absolute()
    return f"file://{quote(str(path), safe='/', errors='surrogatepass')}#char={source.start},{source.end}"


def _plain(text: str) -> str:
    """Words that Markdown reads as nothing but words, on one line."""
    words = _MARKUP.sub(lambda match: f"\\{match[0]}", escape_line(text))
    block = _BLOCK_MARKUP.match(words)
    return f"{block[1]}\\{words[block.start(2) :]}" if block else words
