"""How an answer shows which of its sentences are found in the sources they cite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from ragchat.tui.formatting import one_line
from ragchat.tui.widgets.turn_notes import Line

if TYPE_CHECKING:
    from ragchat.answering.events import Citation, Support

FOUND, NOT_FOUND = "✓", "○"
_HOW = "compared by words, numbers and closeness"
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)", re.DOTALL | re.MULTILINE)
_MOST_TOLD = 3


def with_marks(text: str, citations: Sequence[Citation], support: Sequence[Support] = ()) -> str:
    """The answer with ✗ behind every mark that names a source there is not, and each sentence's glyph.

    Code and tables, which a glyph would change, get none.
    """
    marks = [(citation.end, "✗") for citation in citations if citation.invalid]
    fenced = [match.span() for match in _FENCED.finditer(text)]
    for each in support:
        line = text[text.rfind("\n", 0, each.start) + 1 :].lstrip()
        if each.found is None or line.startswith("|"):
            continue
        if not any(start < each.end and each.start < end for start, end in fenced):
            marks.append((each.end, f" {FOUND if each.found else NOT_FOUND}"))
    for place, mark in sorted(marks, key=lambda pair: pair[0], reverse=True):
        text = f"{text[:place]}{mark}{text[place:]}"
    return text


def support_note(text: str, support: Sequence[Support]) -> list[Line]:
    """How many of the sentences that cite are found where they cite, and which are not."""
    cited = [each for each in support if each.found is not None]
    missing = [each for each in cited if not each.found]
    if not cited:
        return []
    if not missing:
        told = "found in the source it cites" if len(cited) == 1 else "each found in the source it cites"
        what = "the sentence is" if len(cited) == 1 else f"{len(cited)} sentences,"
        words = Content.styled(f"{what} {told} ({_HOW})", "$quiet")
        return [Line(Content.styled(FOUND, "$success"), words)]
    quoted = " ".join(f"“{one_line(text[each.start : each.end], 120)}”" for each in missing[:_MOST_TOLD])
    more = f" and {len(missing) - _MOST_TOLD} more" if len(missing) > _MOST_TOLD else ""
    words = Content.assemble(
        f"{len(missing)} of {len(cited)} not found in the source cited: {quoted}{more}",
        (f" ({_HOW})", "$quiet"),
    )
    return [Line(Content.styled(NOT_FOUND, "$warning"), words)]
