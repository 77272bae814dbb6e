"""Jupyter notebooks: the words and code of their cells, each passage with the number of its cell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ragchat.documents.blobs import data_blobs
from ragchat.documents.document import Block, Document, FailedDocument, Locator, Span
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.headings import Heading, sections_of
from ragchat.documents.labels import title_from_name
from ragchat.documents.markdown import structure_of
from ragchat.documents.reading import NOTHING_TO_DO, RESAVE, UnreadableError
from ragchat.documents.spans import cut_blocks, merged, subtract, trimmed

EXTRACTOR = "notebook/1"

_LONGEST_OUTPUT = 2_000
"""Characters kept of one output; logs and printed tables of data say little."""


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """An .ipynb file as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    made = _Text()
    for number, (kind, words) in enumerate(_cells(decoded.text), start=1):
        made.add(number, kind, words)
    text = "".join(made.parts)
    if not text.strip():
        raise UnreadableError("none of its cells holds any text", NOTHING_TO_DO)
    excluded = merged([*made.excluded, *data_blobs(text)])
    first = next((heading.words for heading in made.headings if heading.words), "")
    return Document(
        name=name,
        title=first or title_from_name(name),
        text=text,
        encoding=decoded.encoding,
        sections=sections_of(made.headings, 0, len(text)),
        blocks=tuple(cut_blocks(text, made.blocks, excluded)),
        silent=tuple(subtract(merged(made.silent), excluded)),
        excluded=tuple(excluded),
        locators=tuple(made.locators),
        extractor=EXTRACTOR,
        digest=digest,
        stored=True,
    )


class _Text:
    """The text while it grows, with what is known of its ranges."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self.silent: list[Span] = []
        self.excluded: list[Span] = []
        self.locators: list[Locator] = []

    def add(self, number: int, kind: str, words: str) -> None:
        """Put a cell behind the others."""
        if not words.strip():
            return
        if self.parts:
            self._append("\n\n")
        start = self.length
        self._append(words)
        self.locators.append(Locator("cell", str(number), start, self.length))
        if kind != "markdown":
            span = trimmed(words, 0, len(words))
            self.blocks.append(Block("code", start + span.start, start + span.end))
            return
        found = structure_of(words)
        self.headings += [
            Heading(each.level, each.words, start + each.start, start + each.body_start)
            for each in found.headings
        ]
        self.blocks += [
            Block(
                each.kind,
                start + each.start,
                start + each.end,
                _moved(each.header, start),
                _moved(each.caption, start),
            )
            for each in found.blocks
        ]
        self.silent += [Span(start + each.start, start + each.end) for each in found.silent]
        self.excluded += [Span(start + each.start, start + each.end) for each in found.excluded]

    def _append(self, words: str) -> None:
        self.parts.append(words)
        self.length += len(words)


def _moved(span: Span | None, by: int) -> Span | None:
    return span and Span(span.start + by, span.end + by)


def _cells(source: str) -> Iterator[tuple[str, str]]:
    """Kind and words of each cell. Raises UnreadableError."""
    try:
        notebook = json.loads(source)
        cells = notebook.get("cells") or [cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
        for cell in cells:
            kind = cell.get("cell_type", "")
            words = _joined(cell.get("source", cell.get("input", "")))
            outputs = [output for output in map(_output, cell.get("outputs", ())) if output]
            yield kind, "\n\n".join([words, *outputs]) if words.strip() else "\n\n".join(outputs)
    except RecursionError:
        raise UnreadableError("it is nested too deep to be read") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableError(
            "it is no proper notebook: its JSON is damaged or of another kind", RESAVE
        ) from error


def _output(output: Any) -> str:
    """The text of an output; "" for pictures and the like."""
    words = _joined(output.get("text", output.get("data", {}).get("text/plain", "")))
    return words[:_LONGEST_OUTPUT].rstrip()


def _joined(lines: Any) -> str:
    return "".join(lines) if isinstance(lines, list) else str(lines)
