"""A long text as rows of a given width, without making a widget or a style of any of them.

Lines are counted as an editor does (CRLF, CR and LF each end one). Rows are ranges of the text itself, so
that a cited range stays a range; what a row looks like is worked out only when it is drawn.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass

from rich.cells import get_character_cell_size

from ragchat.answering.escape import escape_control

_LINE_END = re.compile(r"\r\n|\r|\n")
TAB = "    "
_WIDEST = 6
"""Cells of the widest drawn character: `\\u202e`."""


def drawn(piece: str) -> str:
    """A piece of one line as it is drawn: tabs as blanks, control characters written out."""
    return escape_control(piece).replace("\t", TAB)


def cells(character: str) -> int:
    """How many cells the drawn character takes."""
    if character == "\t":
        return len(TAB)
    if character.isprintable():
        return get_character_cell_size(character)
    return sum(map(get_character_cell_size, escape_control(character)))


@dataclass(frozen=True, slots=True)
class Rows:
    """Row r is text[starts[r]:ends[r]] of the line numbers[r] (1-based)."""

    starts: array[int]
    ends: array[int]
    numbers: array[int]

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, offset: int) -> int:
        """The row in which a code point stands."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def begins_line(self, row: int) -> bool:
        """Whether the line's number is drawn at this row."""
        return row == 0 or self.numbers[row - 1] != self.numbers[row]


def wrap(text: str, width: int) -> Rows:
    """Cut into rows of at most `width` cells, at blanks where that is possible. width must be at least 2."""
    starts, ends, numbers = array("q"), array("q"), array("q")
    at = 0
    for number, (stop, following) in enumerate(_lines(text), start=1):
        cuts = _cuts(text, at, stop, width) if (stop - at) * _WIDEST > width else ()
        for cut in cuts:
            starts.append(at)
            ends.append(cut)
            numbers.append(number)
            at = cut
        starts.append(at)
        ends.append(stop)
        numbers.append(number)
        at = following
    return Rows(starts, ends, numbers)


def _lines(text: str) -> list[tuple[int, int]]:
    """(where the line's words end, where the next line begins); a last line end begins no further line."""
    lines = [match.span() for match in _LINE_END.finditer(text)]
    if not lines or lines[-1][1] < len(text):
        lines.append((len(text), len(text)))
    return lines


def _cuts(text: str, start: int, stop: int, width: int) -> list[int]:
    line = text[start:stop]
    if line.isascii() and line.isprintable():
        return _cuts_of_narrow(text, start, stop, width)
    return _cuts_of_any(line, start, width)


def _cuts_of_narrow(text: str, start: int, stop: int, width: int) -> list[int]:
    """Every character takes one cell: only blanks are looked for, at C speed."""
    cuts = []
    while stop - start > width:
        blank = text.rfind(" ", start + 1, start + width + 1)
        start = blank + 1 if blank > 0 else start + width
        cuts.append(start)
    return cuts


def _cuts_of_any(line: str, offset: int, width: int) -> list[int]:
    """Wide, combining and control characters: cells are added up one by one."""
    cuts: list[int] = []
    begin, used, blank = 0, 0, 0
    for at, character in enumerate(line):
        size = cells(character)
        while used + size > width and at > begin:  # what is left behind a blank may be too long with it
            begin = blank if blank > begin else at
            cuts.append(offset + begin)
            used = sum(map(cells, line[begin:at]))
        used += size
        if character == " " or size == 2:
            blank = at + 1
    return cuts
