"""Source code and data files (JSON, YAML, TOML, XML): the file's own text, cut where a new thing begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.labels import title_from_name
from ragchat.documents.lines import Lines
from ragchat.documents.markdown_lines import Piece
from ragchat.documents.outlined import Outlined, texts_of

EXTRACTOR = "code/1"

_INDENT = re.compile(r"[ \t]*")
_CLOSES = re.compile(r"[ \t]*(?:[)\]}>]|end\b|else\b|elif\b|except\b|finally\b|catch\b)")
_BELONGS_BELOW = re.compile(r"[ \t]*(?:#|//|/\*|\*|--|;|@|\"\"\"|''')")


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """A file of code or data as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    lines = Lines(decoded.text)
    found = Outlined(title=name.rpartition("/")[2] or title_from_name(name))
    starts = list(_beginnings(texts_of(decoded.text, lines)))
    ends = [*starts[1:], len(lines)][: len(starts)]
    found.pieces = [Piece("code", start, end) for start, end in zip(starts, ends, strict=True)]
    return found.document(decoded, lines, name=name, digest=digest, extractor=EXTRACTOR)


def _beginnings(lines: Sequence[str]) -> Iterator[int]:
    """Lines where a function, an entry or the like begins: as little indented as any, its comment with it.

    Where everything stands within one pair of brackets, as in most JSON, the first level inside counts.
    """
    filled = [line for line in lines if line.strip()]
    indents = [_indent(line) for line in filled]
    inner = sorted({indent for indent in indents if indent})
    outermost = indents.count(0)
    level = inner[0] if inner and outermost <= 2 else 0
    first, belongs = True, False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        if first or (_indent(line) <= level and not belongs and not _CLOSES.match(line)):
            yield number
        first, belongs = False, _BELONGS_BELOW.match(line) is not None


def _indent(line: str) -> int:
    match = _INDENT.match(line)
    return len(match.group().expandtabs(4)) if match else 0
