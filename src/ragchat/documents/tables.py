"""What is told apart in any table, wherever it comes from: the rows at its top that name its columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"[-+−(]?\s*[$€£¥]?\s*\d[\d\s.,:/%'’()−-]*[%€$£¥]?\)?", re.DOTALL)
_UNIT = re.compile(r"[(\[].*[)\]]|[^\W\d]{1,4}(?:[/·*][^\W\d]{1,4}|[²³23])*|[%‰°€$£¥]\w?|[-–—]?")
_LONGEST_NAME = 120


def naming_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many rows at the top hold the names of the columns, and their units: 0, 1 or 2.

    Names are words over other values: no number, at least two unless it is a table of one column, no gap
    between them, none twice.
    """
    if len(rows) < 2 or not _are_names(rows[0], max(map(len, rows))):
        return 0
    return 2 if len(rows) > 2 and _are_units(rows[1], rows[2]) else 1


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


_KNOWN = frozenset(
    "m cm mm km g kg t l ml s min h d % ‰ ° °c c k w kw kwh v a hz pa bar € $ £ ¥ eur usd gbp jpy "  # noqa: SIM905
    "m² m³ m2 m3 m/s km/h".split()
)
