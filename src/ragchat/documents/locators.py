"""Where a person would look for a passage: the page, slide, cell, rows or time of a range of text.

A locator lies beside the characters and never in place of them. Its label is written behind `#char=A,B&`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from ragchat.documents.document import Locator

_CELLS = re.compile(r"(?P<sheet>.*)!(?P<first>[A-Z]+\d+)(?::(?P<last>[A-Z]+\d+))?", re.DOTALL)
_CORNER = re.compile(r"([A-Z]+)(\d+)")


def place_of(locators: Sequence[Locator], start: int, end: int) -> str:
    """`page=12` for where a range of text begins, `t=132.4,158.9` for all of it; "" where there is none.

    locators: of one document, in order.
    """
    first = bisect_right(locators, start, key=lambda place: place.end)
    last = bisect_left(locators, end, key=lambda place: place.start) - 1
    return label(locators[first], locators[last]) if first <= last else ""


def same_place(locators: Sequence[Locator], one: int, other: int) -> bool:
    """Whether two offsets lie on one page, slide, chapter or cell: a passage is cited where it begins.

    Rows and times do not part passages, because their labels tell the whole of it.
    """
    places = [bisect_right(locators, offset, key=lambda place: place.start) - 1 for offset in (one, other)]
    return places[0] == places[1] or not all(
        locators[at].kind in _WHERE_IT_BEGINS for at in places if at >= 0
    )


_WHERE_IT_BEGINS = frozenset({"page", "slide", "chapter", "cell"})


def label(first: Locator, last: Locator) -> str:
    """One label for all that lies from one locator to another of the same document.

    Rows of one sheet become their common range (`sheet=Sheet1!A2:C9`) and times one span (`t=132.4,158.9`).
    Pages, slides, chapters and cells are where the reading begins: `page=12`.
    """
    value = first.value
    if first.kind == last.kind == "t":
        value = f"{first.value.partition(',')[0]},{last.value.partition(',')[2]}"
    elif first.kind == last.kind == "sheet":
        value = _rows(first.value, last.value)
    return f"{first.kind}={value}"


def _rows(first: str, last: str) -> str:
    """The range that holds two ranges of cells; the first alone where they lie on two sheets."""
    one, other = _CELLS.fullmatch(first), _CELLS.fullmatch(last)
    if not (one and other) or one["sheet"] != other["sheet"]:
        return first
    corners = [
        _CORNER.fullmatch(each) for match in (one, other) for each in match.group("first", "last") if each
    ]
    columns = sorted((corner[1] for corner in corners if corner), key=lambda name: (len(name), name))
    rows = sorted(int(corner[2]) for corner in corners if corner)
    return cells(one["sheet"], f"{columns[0]}{rows[0]}", f"{columns[-1]}{rows[-1]}")


def cells(sheet: str, first: str, last: str) -> str:
    """`Sheet1!A2:C9`, or `Sheet1!A2` for one cell; the name of the sheet as it is."""
    return f"{sheet}!{first}" if first == last else f"{sheet}!{first}:{last}"


def column_name(number: int) -> str:
    """A for 1, Z for 26, AA for 27."""
    name = ""
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(ord("A") + letter) + name
    return name
