"""The cells of a spreadsheet as tables: a row a line, with its range of cells, under the names of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragchat.documents.locators import cells, column_name
from ragchat.documents.page import Page
from ragchat.documents.tables import naming_rows

Row = tuple[int, dict[int, str]]
"""Its number in the sheet, and its filled cells by the number of their column; both 1-based."""


def regions(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Tables, parted by empty rows."""
    region: list[Row] = []
    for row in rows:
        if region and row[0] > region[-1][0] + 1:
            yield region
            region = []
        region.append(row)
    if region:
        yield region


def put_rows(page: Page, sheet: str, region: Sequence[Row]) -> int:
    """Put one table into the page; returns how many characters it has."""
    first = min(min(filled) for _, filled in region)
    last = max(max(filled) for _, filled in region)
    rows = [[filled.get(column, "") for column in range(first, last + 1)] for _, filled in region]
    left, right = column_name(first), column_name(last)
    places = [cells(sheet, f"{left}{number}", f"{right}{number}") for number, _ in region]
    page.add_table(rows, naming_rows=naming_rows(rows), places=places)
    return sum(len(cell) for row in rows for cell in row)
