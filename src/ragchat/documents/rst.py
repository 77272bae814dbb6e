"""reStructuredText: the file's own text, sections by its underlined titles.

Titles, directives, literal blocks and tables are told by their lines. docutils would give a tree, but no
offsets in the file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragchat.documents.document import Document, FailedDocument, Span
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.lines import Lines
from ragchat.documents.markdown_lines import Piece
from ragchat.documents.outlined import Outlined, texts_of

EXTRACTOR = "rst/1"

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|]+\| +)?(?P<name>[\w:.+-]+)::")
_TARGET = re.compile(r"\.\. +_|__ ")
_KEPT = re.compile(r"\.\. +(?:\[|\|)")
_COMMENT = re.compile(r"\.\.(?: |$)")
_OPTION = re.compile(r"\s+:[\w-]+:")
_CODE = {
    "code",
    "code-block",
    "sourcecode",
    "literalinclude",
    "highlight",
    "parsed-literal",
    "doctest",
    "math",
}
_QUIET = {
    "toctree",
    "image",
    "include",
    "automodule",
    "autoclass",
    "autofunction",
    "contents",
    "raw",
    "meta",
    "index",
}
_LIST = re.compile(r"\s*(?:[-*+•]|\(?(?:\d{1,4}|[a-zA-Z]|#)[.)])\s")
_GRID = re.compile(r"\s*\+[-=+]{3,}\s*$")
_SIMPLE = re.compile(r"\s*={2,}(?:\s+={2,})+\s*$")
_INLINE = re.compile(
    r":[a-zA-Z][\w:.+-]*:(?=`)|`{1,2}_{0,2}|\s?<[^<>`\r\n]+>(?=`)|\*\*|\|_{0,2}(?=\s|$)|\s?::(?=\s*$)", re.M
)


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """An .rst file as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    text = decoded.text
    lines = Lines(text)
    found = _Reader(texts_of(text, lines)).read()
    for piece in found.pieces:
        if piece.kind in {"paragraph", "list_item"} and not piece.silent:
            start, end = lines.start(piece.first), lines.end(piece.end - 1)
            found.silent += [Span(*match.span()) for match in _INLINE.finditer(text, start, end)]
    return found.document(decoded, lines, name=name, digest=digest, extractor=EXTRACTOR)


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._found = Outlined()
        self._styles: list[str] = []
        self._literal_follows = False

    def read(self) -> Outlined:
        at = 0
        while at < len(self._lines):
            at = self._step(at) if self._lines[at].strip() else at + 1
        return self._found

    def _step(self, at: int) -> int:
        """Take what begins at a line; return where it ends."""
        line = self._lines[at]
        if self._literal_follows and line[0] in " \t":
            self._literal_follows = False
            return self._add(Piece("code", at, self._indented_end(at)))
        self._literal_follows = False
        if end := self._title(at):
            return end
        if _ADORNMENT.fullmatch(line):
            return self._add(Piece("paragraph", at, at + 1, silent=True))
        if _COMMENT.match(line) or _TARGET.match(line):
            return self._explicit(at)
        if _GRID.match(line) or _SIMPLE.match(line):
            return self._table(at)
        end = at + 1
        while end < len(self._lines) and self._lines[end].strip() and not _LIST.match(self._lines[end]):
            end += 1
        self._literal_follows = self._lines[end - 1].rstrip().endswith("::")
        return self._add(Piece("list_item" if _LIST.match(line) else "paragraph", at, end))

    def _add(self, piece: Piece) -> int:
        self._found.pieces.append(piece)
        return piece.end

    def _title(self, at: int) -> int:
        """Where a title that begins here ends; 0 for none."""
        over = _ADORNMENT.fullmatch(self._lines[at])
        words, under = (at + 1, at + 2) if over else (at, at + 1)
        if under >= len(self._lines) or not self._lines[words].strip():
            return 0
        below = _ADORNMENT.fullmatch(self._lines[under])
        title = self._lines[words].strip()
        if (
            below is None
            or _ADORNMENT.fullmatch(self._lines[words])
            or len(self._lines[under].rstrip()) < min(4, len(title))
        ):
            return 0
        if over and over.group(1) != below.group(1):
            return 0
        style = below.group(1) * (2 if over else 1)
        if style not in self._styles:
            self._styles.append(style)
        label = re.sub(r":[\w:.+-]+:`|`|\*\*", "", title)
        return self._add(Piece("heading", at, under + 1, min(6, self._styles.index(style) + 1), label))

    def _indented_end(self, at: int) -> int:
        """Behind the last line of what is indented, blank lines within it included."""
        end = last = at
        while end < len(self._lines) and (not self._lines[end].strip() or self._lines[end][0] in " \t"):
            if self._lines[end].strip():
                last = end
            end += 1
        return last + 1

    def _explicit(self, at: int) -> int:
        """A directive, whose words are kept; a target, which has none; a comment."""
        line = self._lines[at]
        end = max(at + 1, self._indented_end(at + 1) if at + 1 < len(self._lines) else at + 1)
        if not any(self._lines[number].strip() for number in range(at + 1, end)):
            end = at + 1
        directive = _DIRECTIVE.match(line)
        if directive is None:
            return self._add(Piece("paragraph", at, end, silent=not _KEPT.match(line)))
        if directive["name"] in _CODE:
            return self._add(Piece("code", at, end))
        if directive["name"] in _QUIET:
            return self._add(Piece("paragraph", at, end, silent=True))
        return self._add(Piece("paragraph", at, end))

    def _table(self, at: int) -> int:
        end = at
        while end < len(self._lines) and self._lines[end].strip():
            end += 1
        rules = [n for n in range(at, end) if re.fullmatch(r"[\s=+-]+", self._lines[n])]
        has_names = len(rules) > 1 and rules[1] > at + 1
        return self._add(Piece("table", at, end, names=at + 1 if has_names else None))
