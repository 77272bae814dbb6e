"""Evidence for people: sources with their ranges and distances, candidates with their verdicts.

What notes and models wrote is escaped here before it reaches a terminal.
"""

from __future__ import annotations

import os
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragchat.answering.coverage import coverage_line
from ragchat.answering.escape import escape_control, escape_line
from ragchat.answering.refusal import refusal_message
from ragchat.answering.report import locator, section_label
from ragchat.chunking.chunk import Chunk
from ragchat.cli.console import linked, note, say, styled
from ragchat.index.scan import note_path
from ragchat.retrieval.trace import Candidate, RetrievalTrace

if TYPE_CHECKING:
    from ragchat.answering.events import Answer
    from ragchat.answering.workspace import Workspace

_ROWS = 10
_QUOTE = 240


def print_search(trace: RetrievalTrace, folder: Path) -> None:
    """The passages that would be sent, then the nearest of those that would not."""
    say(escape_line(refusal_message(trace)) if trace.refused else _counted(trace))
    for source in trace.sources:
        _print_source(source, folder, quoted=True)
    others = [candidate for candidate in trace.candidates if candidate.verdict != "sent"]
    for candidate in others[:_ROWS]:
        say(styled(f"    {_place(candidate)}  {candidate.distance:.3f}  {candidate.verdict}", "2"))
    if len(others) > _ROWS:
        verdicts = Counter(candidate.verdict for candidate in others[_ROWS:])
        told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        note(f"{len(others) - _ROWS} more ({told}): --json has all")
    if trace.refused:
        print_refusal_notes(trace, folder)
    if trace.filters or not _is_whole(trace):
        print_coverage(trace)


def print_sources(answer: Answer, folder: Path) -> None:
    """The numbered sources under an answer: those it cites first in rank, each where it stands."""
    for source in answer.trace.sources:
        uncited = source.number not in answer.cited
        _print_source(source, folder, mark="  not cited" if uncited else "")


def print_changed_sources(answer: Answer, workspace: Workspace) -> None:
    """Sources whose words no longer stand where they stood when they were indexed."""
    for source in answer.trace.sources:
        chunk = source.chunk
        span = workspace.verify(chunk.document, chunk.start, chunk.end, chunk.content)
        name = escape_line(chunk.document)
        match span.standing:
            case "moved":
                place = f"#char={span.start},{span.end}"
                note(f"note: [{source.number}] {name} has changed since: it stands at {place} now")
            case "changed":
                words = textwrap.shorten(escape_control(span.now), _QUOTE, placeholder=" …")
                note(f"note: [{source.number}] {name} has changed since: there is now {words or 'nothing'}")
            case "gone":
                note(f"note: [{source.number}] {name} is no longer there")


def print_refusal_notes(trace: RetrievalTrace, folder: Path) -> None:
    """Why, and what would change it."""
    nearest = min(trace.candidates, key=lambda candidate: candidate.distance, default=None)
    if nearest is None and trace.filters:
        note(f"no passage of the notes lies in {escape_line(str(trace.filters))}")
    elif nearest is None:
        note("the index is empty, so there is no passage to search (ragchat status)")
    else:
        threshold = trace.threshold
        story = f": {threshold.story}" if threshold.parts else ""
        note(
            f"nearest: {_place(nearest)} at {nearest.distance:.3f}; the threshold is "
            f"{threshold.value:.3f} ({threshold.origin}{story})"
        )
    if trace.literal is not None:
        chunk = trace.literal.candidate.chunk
        note(f"but {escape_line(trace.literal.term)} stands word for word in a note: {_quoted(chunk)}")
        place = f"{chunk.document}#char={chunk.start},{chunk.end}"
        note(f"  {escape_line(shlex.join(['ragchat', 'show', '-f', str(folder), '--', place]))}")


def print_coverage(trace: RetrievalTrace) -> None:
    """In how many notes was searched, and what is missing of the others."""
    note(
        coverage_line(trace.coverage, str(trace.filters)) + ("" if _is_whole(trace) else " (ragchat status)")
    )


def _is_whole(trace: RetrievalTrace) -> bool:
    return trace.coverage.is_whole and not trace.coverage.failed


def _quoted(chunk: Chunk) -> str:
    """The beginning of a passage, on one line."""
    return textwrap.shorten(escape_control(chunk.content), _QUOTE, placeholder=" …")


def escaped_lines(text: str, indent: str = "") -> Iterable[str]:
    """Note text as it may be shown on a terminal."""
    return (indent + line for line in escape_control(text).split("\n"))


def file_address(folder: Path, document: str, start: int, end: int) -> str:
    """`file:///…/house/lease.md#char=1204,1690`, percent-encoded."""
    path = os.fsencode(note_path(folder, document))
    return f"file://{quote(path)}#char={start},{end}"


def _print_source(source: Candidate, folder: Path, *, quoted: bool = False, mark: str = "") -> None:
    chunk = source.chunk
    place = linked(styled(_place(source), "1"), file_address(folder, chunk.document, chunk.start, chunk.end))
    say(f"[{source.number}] {place}  {source.distance:.3f}{styled(mark, '2')}")
    lines = (
        f"L{chunk.first_line}"
        if chunk.first_line == chunk.last_line
        else f"L{chunk.first_line}-{chunk.last_line}"
    )
    say(styled("    " + " · ".join(filter(None, (section_label(chunk.section), lines))), "2"))
    if source.also_in:
        say(styled(f"    also in {escape_line(', '.join(source.also_in))}", "2"))
    if quoted:
        words = _quoted(chunk)
        say(textwrap.fill(words, 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False))


def _place(candidate: Candidate) -> str:
    return escape_line(f"{candidate.chunk.document}{locator(candidate)}")


def _counted(trace: RetrievalTrace) -> str:
    count = len(trace.sources)
    return (
        f"{count} {'source' if count == 1 else 'sources'} under cosine distance "
        f"{trace.threshold.value:.3f} ({trace.threshold.origin})"
    )
