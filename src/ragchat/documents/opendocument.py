"""OpenDocument texts, presentations and spreadsheets: the elements of content.xml, walked in order.

Read here and not by a library: the one there is for Python is hardly kept, and what is needed is this walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lxml import etree

from ragchat.documents.archive import Archive
from ragchat.documents.document import Document
from ragchat.documents.page import Page
from ragchat.documents.reading import NOTHING_TO_DO, PASSWORD, Reading, UnreadableError
from ragchat.documents.sheets import Row, put_rows, regions
from ragchat.documents.tables import naming_rows
from ragchat.documents.xml import local_name, parsed

EXTRACTOR = "opendocument/1"

_LEFT_OUT = frozenset(
    {"tracked-changes", "annotation", "annotation-end", "object-ole", "binary-data", "script"}
)
_MOST_REPEATS = 1000
"""A sheet repeats its last empty row and column up to its edge; values are not repeated so often."""


def parse(data: bytes, name: str, digest: str, _reading: Reading) -> Document:
    """An .odt, .odp or .ods file as a document. Raises UnreadableError."""
    page = Page()
    archive = Archive(data, "an OpenDocument file")
    if "content.xml" not in archive.names:
        raise UnreadableError("it is a zip archive, but not an OpenDocument file")
    if "META-INF/manifest.xml" in archive.names and b"encryption-data" in archive.read(
        "META-INF/manifest.xml"
    ):
        raise UnreadableError("it is encrypted, and opens only with its password", PASSWORD)
    root = parsed(archive.read("content.xml"), "its text")
    body = next((each for each in root.iter() if local_name(each) == "body"), root)
    if any(local_name(each) == "spreadsheet" for each in body):
        _put_sheets(body, page)
    else:
        _walk(body, page)
    document = page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=_title(archive))
    if not document.text:
        raise UnreadableError("it holds no text", NOTHING_TO_DO)
    return document


def _title(archive: Archive) -> str:
    if "meta.xml" not in archive.names:
        return ""
    try:
        meta = parsed(archive.read("meta.xml"), "its properties")
    except UnreadableError:
        return ""
    return next(("".join(each.itertext()) for each in meta.iter() if local_name(each) == "title"), "")


def _walk(root: Any, page: Page) -> None:
    slides = 0
    walker = etree.iterwalk(root, events=("start", "end"))
    for event, element in walker:
        kind = local_name(element)
        if event == "start":
            if kind in _LEFT_OUT:
                walker.skip_subtree()
                continue
            if kind == "table" and _is_data(element):
                rows = [[_words(cell) for cell in _cells(row)] for row in _descendants(element, "table-row")]
                page.add_table(rows, naming_rows=naming_rows(rows))
                walker.skip_subtree()
                continue
            if kind == "page":
                slides += 1
                page.begin_place("slide", str(slides))
                page.end_section()
            _start(element, kind, page)
            page.add(element.text or "")
        elif kind not in _LEFT_OUT and not (kind == "table" and _is_data(element)):
            _end(kind, page)
        if event == "end":
            page.add(element.tail or "")


def _start(element: Any, kind: str, page: Page) -> None:
    match kind:
        case "h":
            page.end_block()
            level = _attribute(element, "outline-level")
            page.begin_heading(
                min(int(level), 6) if level.isascii() and level.isdigit() and int(level) else 1
            )
        case "p":
            page.end_block()
        case "list":
            page.end_block()
            page.begin_list(first_number=None)
        case "list-item":
            page.end_block()
            page.begin_item()
        case "s" | "tab":
            page.add(" ")
        case "line-break":
            page.break_line()


def _end(kind: str, page: Page) -> None:
    if kind in {"h", "p", "list", "list-item"}:
        page.end_block()
    if kind == "list":
        page.end_list()
    elif kind == "list-item":
        page.end_container()


def _attribute(element: Any, name: str) -> str:
    return next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")


def _is_data(table: Any) -> bool:
    """A table of one column or with tables in it only places things."""
    rows = list(_descendants(table, "table-row"))
    return not any(local_name(each) == "table" for row in rows for each in row.iter()) and any(
        sum(1 for _ in _cells(row)) > 1 for row in rows
    )


def _descendants(table: Any, name: str) -> Iterator[Any]:
    return (each for each in table.iter() if local_name(each) == name)


def _cells(row: Any) -> Iterator[Any]:
    return (each for each in row if local_name(each) in {"table-cell", "covered-table-cell"})


def _words(element: Any) -> str:
    """The text inside, a paragraph's end as a blank."""
    parts = []
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        if event == "start":
            parts.append(" " if local_name(inner) in {"p", "s", "tab", "line-break"} else "")
            parts.append(inner.text or "")
        elif inner is not element:
            parts.append(inner.tail or "")
    return " ".join("".join(parts).split())


def _put_sheets(body: Any, page: Page) -> None:
    for table in _descendants(body, "table"):
        sheet = _attribute(table, "name") or "Sheet"
        page.put_block("heading", sheet, level=1)
        for region in regions(_rows(table)):
            put_rows(page, sheet, region)


def _rows(table: Any) -> Iterator[Row]:
    number = 0
    for row in _descendants(table, "table-row"):
        filled: dict[int, str] = {}
        column = 0
        for cell in _cells(row):
            words = _words(cell)
            times = _repeats(cell, "number-columns-repeated")
            for at in range(min(times, _MOST_REPEATS) if words else 0):
                filled[column + at + 1] = words
            column += times
        times = _repeats(row, "number-rows-repeated")
        if filled:
            yield from ((number + at + 1, filled) for at in range(min(times, _MOST_REPEATS)))
        number += times


def _repeats(element: Any, name: str) -> int:
    given = _attribute(element, name)
    return int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 1
