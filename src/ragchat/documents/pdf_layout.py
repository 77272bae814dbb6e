"""The reading order of a page: its segments as lines, columns one after the other, tables row by row.

Text around a strip without text is two columns where both sides read like prose, and a table otherwise.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ragchat.documents.pdf_segments import HYPHEN, Segment

_MOST_SEGMENTS = 3000
"""On one page; more are a drawing, and are taken as they come."""
_COLUMN_LINES = 3
_PROSE_LETTERS = 20
"""Half of the lines of a column of prose have so many letters and more."""
_ROW_GAP = 2.0
"""Widest between two rows of one table, in font sizes."""
_MARKER = re.compile(r"[(\[]?(?:\d{1,4}|[ivxlc]{1,5}|\w)?[.)\]]?|\W")

Row = list[Segment]


@dataclass(frozen=True, slots=True)
class Line:
    """cells: of a row of a table, by its columns; a single one elsewhere.

    left, top, right, bottom: in points, y downwards. column: left and right of the column it stands in.
    """

    cells: tuple[str, ...]
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool
    column: tuple[float, float]

    @property
    def text(self) -> str:
        """The words of the line; a soft hyphen at its end where a word is cut."""
        return " ".join(cell for cell in self.cells if cell)


def lines_in_reading_order(segments: Sequence[Segment]) -> list[Line]:
    """All segments of a page as lines, in the order a person reads them."""
    if len(segments) > _MOST_SEGMENTS:
        return [_line([segment], (segment.left, segment.right)) for segment in segments]
    return list(_ordered(_rows(segments)))


def _rows(segments: Sequence[Segment]) -> list[Row]:
    """Segments at the same height together, from top to bottom, each from left to right."""
    rows: list[Row] = []
    for segment in sorted(segments, key=lambda each: (each.middle, each.left)):
        if rows and _overlap(segment, rows[-1][0]) > 0.5:
            rows[-1].append(segment)
        else:
            rows.append([segment])
    for row in rows:
        row.sort(key=lambda each: each.left)
    return rows


def _overlap(one: Segment, other: Segment) -> float:
    """Share of the lower one's height that lies at the height of the other."""
    height = min(one.bottom - one.top, other.bottom - other.top)
    return (min(one.bottom, other.bottom) - max(one.top, other.top)) / max(height, 0.01)


def _ordered(rows: list[Row]) -> Iterator[Line]:
    """Columns of prose each by itself, in between what goes across the page."""
    done = at = 0
    while at < len(rows):
        bands = [(*_band(rows, at, gutter, done), gutter) for gutter in _gutters(rows[at])]
        prose = [band for band in bands if _is_prose(rows[band[0] : band[1]], band[2])]
        if not prose:
            at += 1
            continue
        first, end, gutter = max(prose, key=lambda band: band[1] - band[0])
        yield from _across(rows[done:first])
        left, right = _divided(rows[first:end], gutter)
        yield from _ordered(left)
        yield from _ordered(right)
        done = at = end
    yield from _across(rows[done:])


def _gutters(row: Row) -> list[float]:
    """Where a gutter may run: just before a segment, because columns begin at one edge."""
    return [
        max(other.left - 0.4 * other.size, (one.right + other.left) / 2)
        for one, other in pairwise(row)
        if other.left > one.right
    ]


def _band(rows: list[Row], at: int, gutter: float, floor: int) -> tuple[int, int]:
    """The rows around one that do not cross the gutter, as [first, end); none before `floor`."""
    first, end = at, at + 1
    while first > floor and not _crosses(rows[first - 1], gutter):
        first -= 1
    while end < len(rows) and not _crosses(rows[end], gutter):
        end += 1
    return first, end


def _crosses(row: Row, gutter: float) -> bool:
    return any(each.left < gutter - 0.1 * each.size and each.right > gutter + 0.1 * each.size for each in row)


def _divided(rows: list[Row], gutter: float) -> tuple[list[Row], list[Row]]:
    left = [[each for each in row if each.left < gutter] for row in rows]
    right = [[each for each in row if each.left >= gutter] for row in rows]
    return [row for row in left if row], [row for row in right if row]


def _is_prose(rows: list[Row], gutter: float) -> bool:
    return all(
        len(side) >= _COLUMN_LINES and median(max(map(_letters, row)) for row in side) >= _PROSE_LETTERS
        for side in _divided(rows, gutter)
    )


def _letters(segment: Segment) -> int:
    """Letters, a wide one as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in segment.text)


def _across(rows: list[Row]) -> Iterator[Line]:
    """Tables, and lines that go across the page or column."""
    if not rows:
        return
    column = (min(row[0].left for row in rows), max(each.right for row in rows for each in row))
    at = 0
    while at < len(rows):
        tables = [_table(rows, at, gutter) for gutter in _gutters(rows[at])]
        table = max(tables, key=len, default=[])
        if table:
            yield from _table_lines(table, column)
            at += len(table)
        else:
            yield _line(rows[at], column)
            at += 1


def _table(rows: list[Row], at: int, gutter: float) -> list[Row]:
    """The rows from here that hold text on both sides of the gutter or none across it; [] for no table."""
    end, both = at, 0
    for number in range(at, len(rows)):
        row = rows[number]
        if _crosses(row, gutter) or number - end > 1 or (number > at and _far_below(row, rows[number - 1])):
            break
        if row[-1].left > gutter:
            end, both = number + 1, both + (row[0].left < gutter)
    table = rows[at:end]
    if both < 2 or all(_MARKER.fullmatch(row[0].text) for row in table):
        return []
    return table


def _far_below(row: Row, before: Row) -> bool:
    gap = min(each.top for each in row) - max(each.bottom for each in before)
    return gap > _ROW_GAP * max(each.size for each in (*row, *before))


def _table_lines(table: list[Row], column: tuple[float, float]) -> Iterator[Line]:
    starts = _column_starts(table)
    lines: list[Line] = []
    for row in table:
        cells = [""] * len(starts)
        for each in row:
            place = max(0, bisect_right(starts, each.left + 0.01) - 1)
            cells[place] = f"{cells[place]} {_whole(each.text)}".strip()
        filled = [place for place, cell in enumerate(cells) if cell]
        if lines and len(filled) == 1 and filled[0]:
            # One cell that is not the first goes on on a second line.
            before = list(lines[-1].cells)
            before[filled[0]] = f"{before[filled[0]]} {cells[filled[0]]}".strip()
            lines[-1] = replace(lines[-1], cells=tuple(before))
        else:
            lines.append(replace(_line(row, column), cells=tuple(cells)))
    return iter(lines)


def _column_starts(table: list[Row]) -> list[float]:
    """Where the columns of a table begin: behind each strip that no row covers."""
    starts: list[float] = []
    covered = float("-inf")
    for each in sorted((each for row in table for each in row), key=lambda each: each.left):
        if each.left > covered + 0.3 * each.size:
            starts.append(each.left)
        covered = max(covered, each.right)
    return starts


def _line(row: Row, column: tuple[float, float]) -> Line:
    longest = max(row, key=lambda each: len(each.text))
    texts = [each.text for each in (reversed(row) if _is_right_to_left(row) else row)]
    text = " ".join([*map(_whole, texts[:-1]), texts[-1]])
    return Line(
        (text,),
        min(each.left for each in row),
        min(each.top for each in row),
        max(each.right for each in row),
        max(each.bottom for each in row),
        longest.size,
        longest.bold,
        column,
    )


def _whole(text: str) -> str:
    return text.replace(HYPHEN, "-")


def _is_right_to_left(row: Row) -> bool:
    kinds = [unicodedata.bidirectional(letter) for each in row for letter in each.text]
    return sum(kind in {"R", "AL"} for kind in kinds) > sum(kind == "L" for kind in kinds)
