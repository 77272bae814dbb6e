"""Excel workbooks: each sheet a section, each row a line, with the range of its cells beside it."""

from __future__ import annotations

import datetime
import io
import warnings
from collections.abc import Iterator
from typing import Any

import openpyxl

from ragchat.documents.archive import Archive
from ragchat.documents.document import Document
from ragchat.documents.labels import title_from_name
from ragchat.documents.page import Page
from ragchat.documents.reading import NOTHING_TO_DO, Reading, UnreadableError
from ragchat.documents.sheets import Row, put_rows, regions

EXTRACTOR = "xlsx/1"

_MOST_LETTERS = 20_000_000
_ROWS_UNHEARD = 20_000


def parse(data: bytes, name: str, digest: str, reading: Reading) -> Document:
    """An .xlsx file as a document. Raises UnreadableError."""
    page = Page()
    archive = Archive(data, "an Excel workbook")
    if "xl/workbook.xml" not in archive.names:
        raise UnreadableError("it is a zip archive, but not an Excel workbook")
    _put(data, page, reading)
    document = page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=title_from_name(name))
    if not any(block.kind == "table" for block in document.blocks):
        raise UnreadableError("none of its sheets holds a value", NOTHING_TO_DO)
    return document


def _put(data: bytes, page: Page, reading: Reading) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions it does not keep
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        try:
            letters = 0
            for sheet in book.worksheets:
                page.put_block("heading", sheet.title, level=1)
                for region in regions(_rows(sheet, reading)):
                    letters += put_rows(page, sheet.title, region)
                    if letters > _MOST_LETTERS:
                        raise UnreadableError(
                            f"its cells hold more than {_MOST_LETTERS:,} characters",
                            "split it, or list it in .ragchatignore",
                        )
        finally:
            book.close()


def _rows(sheet: Any, reading: Reading) -> Iterator[Row]:
    for count, row in enumerate(sheet.iter_rows()):
        if count % _ROWS_UNHEARD == _ROWS_UNHEARD - 1:
            reading.progressed()
        filled = {cell.column: shown for cell in row if (shown := _shown(cell)).strip()}
        if filled:
            yield next(cell.row for cell in row if cell.value is not None), filled


def _shown(cell: Any) -> str:
    """The value about as Excel shows it."""
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float() | int() if "%" in (cell.number_format or ""):
            return f"{value * 100:.10g}%"
        case float():
            return f"{value:.15g}"
        case datetime.datetime() if value.time() == datetime.time():
            return value.date().isoformat()
        case datetime.datetime():
            return value.isoformat(" ", "seconds")
        case _:
            return str(value)
