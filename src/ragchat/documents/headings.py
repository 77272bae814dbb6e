"""From headings to sections: each under the full path of the headings around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragchat.documents.document import Section


@dataclass(frozen=True, slots=True)
class Heading:
    """level: 1 is the outermost. start, body_start: where it begins and where the text under it does."""

    level: int
    words: str
    start: int
    body_start: int


def sections_of(headings: Sequence[Heading], start: int, end: int) -> tuple[Section, ...]:
    """The sections that make up the body `[start, end)` without a gap; headings in order.

    Text before the first heading is a section with an empty path. A heading without words ends the section
    before it and adds nothing to a path.
    """
    ends = [*(heading.start for heading in headings[1:]), end]
    first = headings[0].start if headings else end
    sections = [Section((), start, first, start)] if start < first else []
    above: list[Heading] = []
    for heading, section_end in zip(headings, ends, strict=False):
        while above and above[-1].level >= heading.level:
            above.pop()
        above.append(heading)
        path = tuple(outer.words for outer in above if outer.words)
        sections.append(Section(path, heading.start, section_end, heading.body_start))
    return tuple(sections)
