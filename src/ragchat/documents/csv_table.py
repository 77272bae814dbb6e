"""CSV and TSV: the file's own text, each row with the range of its cells, the first row as column names."""

from __future__ import annotations

import re
from collections import Counter

from ragchat.documents.blobs import data_blobs
from ragchat.documents.document import Block, Document, FailedDocument, Locator, Section, Span
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.labels import title_from_name
from ragchat.documents.locators import cells, column_name
from ragchat.documents.spans import cut_blocks, merged, trimmed
from ragchat.documents.tables import naming_rows

EXTRACTOR = "csv/1"

_DELIMITERS = ",;\t|"
_JUDGED_ROWS = 40
_NAMES_AMONG = 5


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """A file of comma or tab separated values as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    text = decoded.text
    rows = _rows(text)
    empty = [span for span, values in rows if not any(values)]
    excluded = merged([*data_blobs(text), *(trimmed(text, span.start, span.end) for span in empty)])
    blocks = _blocks(text, rows)
    return Document(
        name=name,
        title=title_from_name(name),
        text=text,
        encoding=decoded.encoding,
        sections=(Section((), 0, len(text), 0),) if text else (),
        blocks=tuple(cut_blocks(text, blocks, excluded)),
        silent=(),
        excluded=tuple(excluded),
        locators=_locators(rows, title_from_name(name)),
        extractor=EXTRACTOR,
        digest=digest,
    )


_Row = tuple[Span, tuple[str, ...]]


def _rows(text: str) -> list[_Row]:
    """Every row with its cells; a row may run over several lines between quotes."""
    readings = [_read(text, delimiter) for delimiter in _DELIMITERS]
    return max(readings, key=_likelihood)


def _likelihood(rows: list[_Row]) -> tuple[float, int]:
    """How many of the first rows have the most usual width, if that is more than one; then that width."""
    widths = Counter(len(cells) for _, cells in rows[:_JUDGED_ROWS] if any(cells))
    if not widths:
        return 0.0, 0
    width, count = max(widths.items(), key=lambda item: (item[1] * (item[0] > 1), item[0]))
    return (count / widths.total() if width > 1 else 0.0), width


def _read(text: str, delimiter: str) -> list[_Row]:
    # A quote that is never closed would swallow the rest: then quotes are letters like any other.
    quoted = r'"(?:[^"]|"")*+"|' if text.count('"') % 2 == 0 else ""
    token = re.compile(
        rf"(?P<cell>{quoted}[^{re.escape(delimiter)}\r\n]*+)(?P<end>{re.escape(delimiter)}|\r\n|\r|\n|\Z)"
    )
    rows: list[_Row] = []
    row: list[str] = []
    start = at = 0
    while at < len(text):
        match = token.match(text, at)
        if match is None:  # words behind a closing quote
            match = re.compile(
                rf"(?P<cell>[^{re.escape(delimiter)}\r\n]*+)(?P<end>{re.escape(delimiter)}|\r\n|\r|\n|\Z)"
            ).match(text, at)
            assert match is not None
        row.append(_plain(match["cell"]))
        at = match.end()
        if match["end"] != delimiter:
            rows.append((Span(start, match.start("end")), tuple(row)))
            row, start = [], at
    if row:
        rows.append((Span(start, at), (*row, "")))
    return rows


def _plain(cell: str) -> str:
    cell = cell.strip()
    return cell[1:-1].replace('""', '"') if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def _blocks(text: str, rows: list[_Row]) -> list[Block]:
    """One table for each run of rows that no empty row parts."""
    blocks: list[Block] = []
    run: list[_Row] = []
    for row in [*rows, (Span(0, 0), ())]:
        if any(row[1]):
            run.append(row)
        elif run:
            names = naming_rows([cells for _, cells in run[:_NAMES_AMONG]])
            header = trimmed(text, run[0][0].start, run[names - 1][0].end) if names else None
            blocks.append(Block("table", run[0][0].start, run[-1][0].end, header))
            run = []
    return blocks


def _locators(rows: list[_Row], sheet: str) -> tuple[Locator, ...]:
    return tuple(
        Locator(
            "sheet", cells(sheet, f"A{number}", f"{column_name(len(values))}{number}"), span.start, span.end
        )
        for number, (span, values) in enumerate(rows, start=1)
        if any(values)
    )
