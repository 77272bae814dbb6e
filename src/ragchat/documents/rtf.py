"""RTF: its text by striprtf, rows of tables as tables. Headings have no mark of their own in it."""

from __future__ import annotations

import re
from itertools import groupby

from striprtf.striprtf import rtf_to_text

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.page import Page
from ragchat.documents.reading import NOTHING_TO_DO, Reading
from ragchat.documents.tables import naming_rows

EXTRACTOR = "rtf/1"

_RESAVE = "open it in a word processor and save it again, or as .docx, then: ragchat index --retry"
_TITLE = re.compile(rb"\\info\b.{0,2000}?\{\\title ([^{}\\]+)\}", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def parse(data: bytes, name: str, digest: str, _reading: Reading) -> Document | FailedDocument:
    """An RTF file as a document, or why it is none."""
    if not data.lstrip().startswith(b"{\\rtf"):
        return FailedDocument(name, "it is named .rtf, but is no RTF", _RESAVE, digest, EXTRACTOR)
    text = rtf_to_text(data.decode("latin-1"), encoding="cp1252", errors="replace")
    # Characters beyond the first 65,536 come as two halves; a half without the other is none.
    text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    page = Page()
    for is_table, lines in groupby(_CONTROLS.sub("", text).split("\n"), key=lambda line: line.endswith("|")):
        if is_table:
            rows = [line.removesuffix("|").split("|") for line in lines]
            page.add_table(rows, naming_rows=naming_rows(rows))
        else:
            for line in lines:
                page.end_block()
                page.add(line)
    title = _TITLE.search(data[:20_000])
    document = page.finish(
        name=name,
        digest=digest,
        extractor=EXTRACTOR,
        title=title.group(1).decode("ascii", "ignore") if title else "",
    )
    if not document.text:
        return FailedDocument(name, "it holds no text", NOTHING_TO_DO, digest, EXTRACTOR)
    return document
