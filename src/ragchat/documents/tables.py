"""What is told apart in any table, wherever it comes from: the rows that name its columns, its caption."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from ragchat.documents.document import Block, Span

_NUMBER = re.compile(r"[-+−(]?\s*[$€£¥]?\s*\d[\d\s.,:/%'’()−-]*[%€$£¥]?\)?", re.DOTALL)
_UNIT = re.compile(r"[(\[].*[)\]]|[^\W\d]{1,4}(?:[/·*][^\W\d]{1,4}|[²³23])*|[%‰°€$£¥]\w?|[-–—]?")
_LONGEST_NAME = 120
_MOST_TITLES = 2


def naming_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many rows at the top hold the names of the columns, with a title above and units below them.

    Names are words over other values: no number, at least two unless it is a table of one column, no gap
    between them, none twice. A title is a row of one cell above them.
    """
    width = max((_width(row) for row in rows), default=0)
    titles = 0
    while titles < min(_MOST_TITLES, len(rows)) and width > 1 and _width(rows[titles]) <= 1:
        titles += 1
    rest = rows[titles:]
    if len(rest) < 2 or not _are_names(rest[0], width):
        return 0
    return titles + (2 if len(rest) > 2 and _are_units(rest[1], rest[2]) else 1)


def _width(row: Sequence[str]) -> int:
    return max((number for number, cell in enumerate(row, start=1) if cell.strip()), default=0)


def _are_names(row: Sequence[str], width: int) -> bool:
    names = [cell.strip() for cell in row]
    while names and not names[-1]:
        names.pop()
    filled = [name for name in names if name]
    return (
        len(filled) >= min(2, width)
        and all(name for name in names[1:])
        and len(set(filled)) == len(filled)
        and not any(_NUMBER.fullmatch(name) or len(name) > _LONGEST_NAME for name in filled)
    )


def _are_units(row: Sequence[str], following: Sequence[str]) -> bool:
    cells = [cell.strip() for cell in row]
    return (
        any(cells)
        and all(_UNIT.fullmatch(cell) for cell in cells)
        and any(_NUMBER.fullmatch(cell.strip()) for cell in following)
        and any(cell.startswith(("(", "[")) or cell.casefold() in _KNOWN for cell in cells)
    )


def with_captions(text: str, blocks: Sequence[Block]) -> list[Block]:
    """The blocks, each table with the paragraph above it as its caption, where that says that it is one."""
    found = list(blocks)
    for number, (above, block) in enumerate(pairwise(blocks), start=1):
        if block.kind == "table" and block.caption is None and above.kind == "paragraph":
            words = text[above.start : above.end]
            if len(words) <= _LONGEST_CAPTION and _CAPTION.match(words):
                found[number] = replace(block, caption=Span(above.start, above.end))
    return found


_LONGEST_CAPTION = 300
_CAPTION = re.compile(
    r"[*_(\[]{0,3}(?:table|tab\.|tabelle|tableau|tabla|tabella|tabel|таблица|表)\s*[\d:.：IVX]", re.IGNORECASE
)
_KNOWN = frozenset(
    "m cm mm km g kg t l ml s min h d % ‰ ° °c c k w kw kwh v a hz pa bar € $ £ ¥ eur usd gbp jpy "  # noqa: SIM905
    "m² m³ m2 m3 m/s km/h".split()
)
