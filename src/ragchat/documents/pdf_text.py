"""From the lines of all pages to paragraphs, headings, lists and tables.

Lines that come again on other pages at the same end of the page (running headers, footers, page numbers) are
left out. A word cut at the end of a line is made whole, a paragraph cut at the end of a page as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from statistics import median
from typing import Literal

from ragchat.documents.page import Page
from ragchat.documents.pdf_layout import Line
from ragchat.documents.pdf_segments import HYPHEN
from ragchat.documents.tables import naming_rows

_EDGE_LINES = 3
"""So many lines at each end of a page may be running ones."""
_NUMBER = re.compile(r"[0-9]{1,9}|\b[ivxlc]{1,9}\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_BULLET = re.compile(r"(?:[•▪▫◦‣●○■□–—*-]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)])\s+\S")
_SENTENCE_END = re.compile(r"[.!?:;。！？：][\"'”’」』)）\]]*$")
_CUT = re.compile(rf"(?P<head>[^\W\d_]+)[{HYPHEN}‐-]$")
_HYPHENED = re.compile(r"[^\W\d_]+-[^\W\d_]+")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_LONGEST_HEADING = 200
_LARGER = 1.12


@dataclass(slots=True)
class PageLines:
    """number: 1-based. lines: in reading order; of a page read from a picture, with sizes of 0."""

    number: int
    lines: list[Line]


@dataclass(slots=True)
class _Item:
    """A paragraph, list item or heading with its lines, or a table with its rows; with their pages."""

    kind: Literal["paragraph", "list_item", "table"]
    lines: list[tuple[Line, int]] = field(default_factory=list)

    @property
    def last(self) -> Line:
        return self.lines[-1][0]


def put_pages(pages: Sequence[PageLines], page: Page) -> None:
    """Put the text of all pages into a document, with a place for each page."""
    _leave_out_running_lines(pages)
    letters: Counter[float] = Counter()
    bold = 0
    for each in pages:
        for line in each.lines:
            letters[_rounded(line.size)] += len(line.text) if line.size else 0
            bold += len(line.text) if line.bold else 0
    body = max(letters, key=letters.__getitem__, default=0.0)
    is_bold = 2 * bold > letters.total()
    items = _joined([item for each in pages for item in _items(each)])
    sizes = {_rounded(item.last.size) for item in items if item.last.size > _LARGER * body}
    larger = sorted(sizes, reverse=True)
    lines = (line for each in pages for line in each.lines)
    compounds = {word.casefold() for line in lines for word in _HYPHENED.findall(line.text)}
    told: set[int] = set()
    for item in items:
        level = _level(item, body, larger, bold_says_nothing=is_bold) if body else 0
        if item.kind == "table":
            _put_table(item, page, told)
        else:
            _put_words(item, page, told, compounds, level)


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _leave_out_running_lines(pages: Sequence[PageLines]) -> None:
    """Drop what comes again at the same end of other pages, from the edge inwards; never all of a page."""
    if len(pages) < 2:
        return
    seen: Counter[str] = Counter()
    for each in pages:
        seen.update({key for edge in _edges(each) for number in edge for key in _keys(each, number)})
    enough = max(2, round(0.3 * len(pages)))
    for each in pages:
        again = [any(seen[key] >= enough for key in _keys(each, number)) for number in range(len(each.lines))]
        running = {number for edge in _edges(each) for number in takewhile(again.__getitem__, edge)}
        if len(running) < len(each.lines):
            each.lines = [line for number, line in enumerate(each.lines) if number not in running]


def _edges(page: PageLines) -> tuple[list[int], list[int]]:
    """The numbers of the highest lines of a page and of the lowest, each from the edge inwards."""
    by_height = sorted(range(len(page.lines)), key=lambda number: page.lines[number].top)
    return by_height[:_EDGE_LINES], by_height[: -_EDGE_LINES - 1 : -1]


def _keys(page: PageLines, number: int) -> Iterator[str]:
    """What makes a line the same on other pages: its height and words, one number counted from the page's."""
    line = page.lines[number]
    text = line.text.casefold()
    where = round(line.top / 10)
    yield f"{where} {text}"
    for match in _NUMBER.finditer(text):
        value = int(match.group()) if match.group().isdigit() else _roman(match.group())
        yield f"{where} {text[: match.start()]}#{value - page.number}{text[match.end() :]}"


def _roman(numeral: str) -> int:
    values = [_ROMAN[letter] for letter in numeral]
    return sum(
        -value if value < following else value
        for value, following in zip(values, [*values[1:], 0], strict=True)
    )


def _items(page: PageLines) -> Iterator[_Item]:
    leading = _leading(page.lines)
    item: _Item | None = None
    for line in page.lines:
        if item is None or _begins_item(item, line, leading):
            if item is not None:
                yield item
            kind: Literal["paragraph", "list_item", "table"] = "paragraph"
            if len(line.cells) > 1:
                kind = "table"
            elif _BULLET.match(line.text):
                kind = "list_item"
            item = _Item(kind)
        item.lines.append((line, page.number))
    if item is not None:
        yield item


def _leading(lines: Sequence[Line]) -> float:
    """The usual distance from line to line, in sizes."""
    steps = [
        (line.top - before.top) / line.size
        for before, line in pairwise(lines)
        if line.column == before.column and line.size and 0 < line.top - before.top < 3 * line.size
    ]
    return median(steps) if steps else 1.3


def _begins_item(item: _Item, line: Line, leading: float) -> bool:
    before = item.last
    if (len(line.cells) > 1) != (item.kind == "table") or line.column != before.column:
        return True
    if item.kind == "table":
        return len(line.cells) != len(before.cells)
    if not line.size:
        return _BULLET.match(line.text) is not None
    size = max(line.size, before.size)
    if abs(line.size - before.size) > 0.08 * size or _BULLET.match(line.text):
        return True
    step = (line.top - before.top) / max(size, 0.1)
    if step < 0 or step > 1.25 * leading + 0.15:
        return True
    left, right = line.column
    is_short = before.right < right - 0.25 * (right - left)
    if line.bold != before.bold and is_short:
        return True
    if is_short and _SENTENCE_END.search(before.text):
        return True
    is_indented = line.left > left + 0.8 * size
    return is_indented and before.left < left + 0.4 * size and item.kind == "paragraph" and not is_short


def _joined(items: Iterable[_Item]) -> list[_Item]:
    """A paragraph that the end of a column or page cuts in the middle of a sentence is one again."""
    whole: list[_Item] = []
    for item in items:
        before = whole[-1] if whole else None
        if before and _goes_on(before, item):
            before.lines += item.lines
        else:
            whole.append(item)
    return whole


def _goes_on(before: _Item, item: _Item) -> bool:
    first, (_, page) = item.lines[0][0], item.lines[0]
    if before.kind == "table" or item.kind != "paragraph":
        return False
    apart = page != before.lines[-1][1] or first.column != before.last.column
    same_size = abs(first.size - before.last.size) <= 0.08 * max(first.size, 0.1)
    text = before.last.text
    cut = bool(_CUT.search(text)) or first.text[0].islower()
    return apart and same_size and cut and not _SENTENCE_END.search(text)


def _level(item: _Item, body: float, larger: Sequence[float], *, bold_says_nothing: bool) -> int:
    """The level of a heading, 0 for anything else."""
    text = " ".join(line.text for line, _ in item.lines)
    if item.kind == "table" or len(text) > _LONGEST_HEADING or not any(map(str.isalpha, text)):
        return 0
    size = _rounded(item.last.size)
    if size in larger:
        return min(6, larger.index(size) + 1)
    is_bold = all(line.bold for line, _ in item.lines) and not bold_says_nothing
    if is_bold and len(item.lines) == 1 and size >= body and not text.endswith((".", ",", ";", ":")):
        return min(6, len(larger) + 1)
    return 0


def _put_words(item: _Item, page: Page, told: set[int], compounds: set[str], level: int) -> None:
    text = ""
    places = []
    for line, number in item.lines:
        text, start = _continued(text, line.text, compounds)
        if number not in told:
            told.add(number)
            places.append((start, "page", str(number)))
    text = text.replace(HYPHEN, "-")
    page.put_block("heading" if level else item.kind, text, level=level, places=places)


def _continued(text: str, line: str, compounds: set[str]) -> tuple[str, int]:
    """The text with another line behind it, and where that line begins."""
    if not text:
        return line, 0
    cut = _CUT.search(text)
    if cut and line[0].isalpha():
        rest = re.match(r"\w+", line)
        compound = f"{cut['head']}-{rest.group() if rest else ''}".casefold()
        keeps = line[0].isupper() or compound in compounds
        head = text[: cut.end() - 1] + ("-" if keeps else "")
        return head + line, len(head)
    if _WIDE.match(text[-1]) and _WIDE.match(line[0]):
        return text + line, len(text)
    return f"{text} {line}", len(text) + 1


def _put_table(item: _Item, page: Page, told: set[int]) -> None:
    rows = [line.cells for line, _ in item.lines]
    number = item.lines[0][1]
    if number not in told:
        told.add(number)
        page.begin_place("page", str(number))
    page.add_table(rows, naming_rows=naming_rows(rows))
