"""The characters of a PDF page as segments: runs on one line without a wide gap, each with its place.

Coordinates are in points with y downwards, turned so that most of the page's text runs from left to right;
how a viewer turns the page does not matter.
"""

from __future__ import annotations

import ctypes
import math
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count as count_from
from statistics import median
from typing import Any

import pypdfium2.raw as pdfium

_WIDE_GAP = 1.15
"""In font sizes; blanks between words are narrower, also where lines are stretched."""
_LINE_END_HYPHENS = "\u0002\ufffe"
"""What PDFium gives for a hyphen at the end of a line."""
HYPHEN = "\u00ad"
"""The soft hyphen, which shows only where it cuts a word."""
_SPACED = 0.08
"""Usual gap between letters, in their heights, from which a line is letter-spaced."""


@dataclass(frozen=True, slots=True)
class Segment:
    """text: with a soft hyphen at its end where a word is cut there. size: in points, as it is drawn."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    size: float
    bold: bool

    @property
    def middle(self) -> float:
        """Its height on the page."""
        return (self.top + self.bottom) / 2


@dataclass(slots=True)
class _Run:
    """A segment while it grows. Boxes are in the page's own coordinates, y upwards.

    gaps: before each letter but the first. spaces: place in `letters` -> the gap that PDFium made a blank of.
    """

    first: int
    angle: int
    letters: list[str]
    left: float
    bottom: float
    right: float
    top: float
    gaps: list[float] = field(default_factory=list)
    spaces: dict[int, float] = field(default_factory=dict)

    def text(self) -> str:
        """The words; in a letter-spaced line only the wide gaps are blanks."""
        usual = median(self.gaps) if self.gaps and self.spaces else 0.0
        if usual > _SPACED * min(self.right - self.left, self.top - self.bottom):
            for place, gap in self.spaces.items():
                if gap < 2 * usual:
                    self.letters[place] = ""
        return "".join(self.letters).strip()

    @property
    def is_turned(self) -> bool:
        return self.angle % 180 == 90

    def add(self, letter: str, box: tuple[float, float, float, float], gap: float, *, made: bool) -> None:
        if self.letters[-1] == HYPHEN:
            self.letters.pop()
        if made and self.letters[-1] == " ":
            self.spaces[len(self.letters) - 1] = gap
        self.gaps.append(gap)
        self.letters.append(letter)
        left, bottom, right, top = box
        self.left, self.right = min(self.left, left), max(self.right, right)
        self.bottom, self.top = min(self.bottom, bottom), max(self.top, top)


def segments_of(text_page: Any) -> tuple[list[Segment], float]:
    """The segments in the order of the file, and the share of characters that have no known meaning."""
    count = pdfium.FPDFText_CountChars(text_page)
    unknown = sum(pdfium.FPDFText_HasUnicodeMapError(text_page, index) == 1 for index in range(count))
    found = list(_runs(text_page, count))
    letters: Counter[int] = Counter()
    for run in found:
        letters[run.angle] += len(run.letters)
    if not letters:
        return [], 0.0
    main = letters.most_common(1)[0][0]
    upright = [_segment(text_page, run, main) for run in found if run.angle == main]
    low = max(segment.bottom for segment in upright)
    # What runs in another direction, as a stamp at the margin does, is read after the rest.
    beside = [
        replace(_segment(text_page, run, 0), left=0.0, right=100.0, top=top, bottom=top + 10.0)
        for top, run in zip(count_from(low + 40.0, 40.0), (run for run in found if run.angle != main))
    ]
    shown = [segment for segment in (*upright, *beside) if segment.text]
    return _without_doubles(shown), unknown / count


def _without_doubles(segments: list[Segment]) -> list[Segment]:
    """Each line once, though it is drawn twice a hair apart to look bold or to cast a shadow."""
    seen: dict[str, list[Segment]] = {}
    kept = []
    for segment in segments:
        same = seen.setdefault(segment.text, [])
        near = 0.3 * segment.size
        if not any(
            abs(other.left - segment.left) < near and abs(other.top - segment.top) < near for other in same
        ):
            same.append(segment)
            kept.append(segment)
    return kept


def _angle(text_page: Any, index: int) -> int:
    """Clockwise, to the nearest quarter turn."""
    return round(math.degrees(pdfium.FPDFText_GetCharAngle(text_page, index)) / 90) * 90 % 360


def _segment(text_page: Any, run: _Run, angle: int) -> Segment:
    match angle:
        case 90:
            box = (-run.top, -run.right, -run.bottom, -run.left)
        case 180:
            box = (-run.right, run.bottom, -run.left, run.top)
        case 270:
            box = (run.bottom, run.left, run.top, run.right)
        case _:
            box = (run.left, -run.top, run.right, -run.bottom)
    return Segment(run.text(), *box, *_font(text_page, run.first))


def _runs(text_page: Any, count: int) -> Iterator[_Run]:
    run: _Run | None = None
    rectangle = pdfium.FS_RECTF()
    where = ctypes.byref(rectangle)
    last = ("", (0.0, 0.0, 0.0, 0.0))
    made = False
    for index in range(count):
        code = pdfium.FPDFText_GetUnicode(text_page, index)
        letter = chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else ""
        if letter in "\r\n":
            if letter and run:
                yield run
                run = None
            continue
        if letter in _LINE_END_HYPHENS or letter == HYPHEN:
            if run:
                run.letters.append(HYPHEN if letter == HYPHEN else "-")
            continue
        if letter.isspace():
            made = pdfium.FPDFText_IsGenerated(text_page, index) == 1
            if run and not run.letters[-1].isspace():
                run.letters.append(" ")
            continue
        if unicodedata.category(letter) in {"Cc", "Cn"}:
            continue
        if not pdfium.FPDFText_GetLooseCharBox(text_page, index, where):
            continue
        box = (rectangle.left, rectangle.bottom, rectangle.right, rectangle.top)
        if run and (letter, box) != last and _is_drawn_twice(letter, box, last):
            continue
        gap = _gap(run, box, last[1]) if run else 0.0
        if run and gap is None:
            yield run
            run = None
        if run is None or gap is None:
            run = _Run(index, _angle(text_page, index), [letter], *box)
        else:
            run.add(letter, box, gap, made=made)
        last, made = (letter, box), False
    if run:
        yield run


def _is_drawn_twice(
    letter: str, box: tuple[float, float, float, float], last: tuple[str, tuple[float, float, float, float]]
) -> bool:
    """Whether a letter lies on the same letter before it: that is how bold is faked."""
    before, (left, bottom, right, _) = last
    near = 0.3 * max(right - left, 0.1)
    return letter == before and abs(box[0] - left) < near and abs(box[1] - bottom) < near


def _gap(
    run: _Run, box: tuple[float, float, float, float], last: tuple[float, float, float, float]
) -> float | None:
    """The gap before a character on the line of the last one, along x or, where text is turned, along y.

    None where it is not on that line, or stands far away on it.
    """
    left, bottom, right, top = box
    height = max(min(top - bottom, last[3] - last[1]), 0.1)
    width = max(min(right - left, last[2] - last[0]), 0.1)
    beside = min(top, last[3]) - max(bottom, last[1]) > 0.5 * height
    in_line = min(right, last[2]) - max(left, last[0]) > 0.5 * width
    if beside and not run.is_turned:
        gap = max(left - last[2], last[0] - right)
        return gap if gap < _WIDE_GAP * height else None
    is_stacked = len(run.letters) == 1 or run.top - run.bottom > 1.5 * (run.right - run.left)
    if in_line and (run.is_turned or is_stacked):
        gap = max(bottom - last[3], last[1] - top)
        return gap if gap < _WIDE_GAP * width else None
    return None


def _font(text_page: Any, index: int) -> tuple[float, bool]:
    """Size as drawn, and whether the font is bold by its name or weight."""
    matrix = pdfium.FS_MATRIX()
    size: float = pdfium.FPDFText_GetFontSize(text_page, index)
    if pdfium.FPDFText_GetMatrix(text_page, index, ctypes.byref(matrix)):
        size *= math.hypot(matrix.b, matrix.d)
    flags = ctypes.c_int()
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(text_page, index, name, 128, ctypes.byref(flags))
    return size, b"bold" in name.value.lower() or pdfium.FPDFText_GetFontWeight(text_page, index) >= 600
