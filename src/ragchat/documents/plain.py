"""Plain text: paragraphs between blank lines, one section, and no guessing at headings."""

from __future__ import annotations

import re

from ragchat.documents.blobs import data_blobs
from ragchat.documents.document import Block, Document, FailedDocument, Section
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.labels import title_from_name
from ragchat.documents.spans import cut_blocks

EXTRACTOR = "text/1"

_BREAK = r"(?>\r\n|\r|\n)"
_BLANK_LINES = re.compile(rf"{_BREAK}(?:[^\S\r\n]*+{_BREAK})+")


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """A plain text file as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    text = decoded.text
    excluded = data_blobs(text)
    return Document(
        name=name,
        title=title_from_name(name),
        text=text,
        encoding=decoded.encoding,
        sections=(Section((), 0, len(text), 0),) if text else (),
        blocks=tuple(cut_blocks(text, _paragraphs(text), excluded)),
        silent=(),
        excluded=tuple(excluded),
        locators=(),
        extractor=EXTRACTOR,
        digest=digest,
    )


def _paragraphs(text: str) -> list[Block]:
    starts, ends = [0], []
    for gap in _BLANK_LINES.finditer(text):
        ends.append(gap.start())
        starts.append(gap.end())
    ends.append(len(text))
    return [Block("paragraph", start, end) for start, end in zip(starts, ends, strict=True)]
