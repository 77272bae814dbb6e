"""Org: the file's own text, sections by its stars; drawers, keywords and comments carry no words.

Its tags are those of the file (`#+FILETAGS`, `#+KEYWORDS`) and those of its headings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragchat.documents.dates import written_date
from ragchat.documents.document import Document, FailedDocument, Span
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.lines import Lines
from ragchat.documents.markdown_lines import Piece
from ragchat.documents.outlined import Outlined, texts_of

EXTRACTOR = "org/2"

_HEADING = re.compile(
    r"(\*+)[ \t]+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED|HOLD)[ \t]+)?(?:\[#[A-Z]\][ \t]*)?"
    r"(.*?)(?:[ \t]+:(?P<tags>[\w@#%:]+):)?[ \t]*"
)
_KEYWORD = re.compile(r"#\+(title|date|filetags|keywords):[ \t]*(.*)", re.IGNORECASE)
_BEGIN = re.compile(r"[ \t]*#\+begin_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:[\w-]+:[ \t]*")
_END_DRAWER = re.compile(r"[ \t]*:end:[ \t]*", re.IGNORECASE)
_QUIET = re.compile(r"[ \t]*(?:#\+\w+:|#[ \t]|#$|(?:SCHEDULED|DEADLINE|CLOSED):)", re.IGNORECASE)
_LIST = re.compile(r"[ \t]*(?:[-+]|\d{1,4}[.)])[ \t]")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[ \t]*\|[-+|]+[ \t]*")
_LINK = re.compile(r"\[\[(?:[^\[\]]*\]\[)?([^\[\]]*)\]\]")
_CODE = {"src", "example", "export", "comment"}


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """An .org file as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    text = decoded.text
    lines = Lines(text)
    texts = texts_of(text, lines)
    found = Outlined()
    at = 0
    while at < len(texts):
        at = _step(found, texts, at) if texts[at].strip() else at + 1
    for link in _LINK.finditer(text):
        found.silent += [Span(link.start(), link.start(1)), Span(link.end(1), link.end())]
    return found.document(decoded, lines, name=name, digest=digest, extractor=EXTRACTOR)


def _step(found: Outlined, lines: Sequence[str], at: int) -> int:
    """Take what begins at a line; return where it ends."""
    line = lines[at]
    if keyword := _KEYWORD.match(line):
        _take(found, keyword.group(1).lower(), keyword.group(2))
    if heading := _HEADING.fullmatch(line):
        found.tags += (heading["tags"] or "").split(":")
        label = _LINK.sub(r"\1", heading.group(2))
        piece = Piece("heading", at, at + 1, min(6, len(heading.group(1))), label)
    elif begin := _BEGIN.match(line):
        end = _behind(lines, at, re.compile(rf"[ \t]*#\+end_{begin.group(1)}\b", re.IGNORECASE))
        piece = Piece("code" if begin.group(1).lower() in _CODE else "quote", at, end)
    elif _DRAWER.fullmatch(line) and (end := _behind(lines, at, _END_DRAWER)) > at + 1:
        piece = Piece("paragraph", at, end, silent=True)
    elif _QUIET.match(line):
        piece = Piece("paragraph", at, at + 1, silent=True)
    elif _ROW.match(line):
        end = _while(lines, at, _ROW)
        ruled = end > at + 1 and _RULE.fullmatch(lines[at + 1]) is not None
        piece = Piece("table", at, end, names=at if ruled else None)
    else:
        end = at + 1
        while end < len(lines) and lines[end].strip() and not _begins(lines[end]):
            end += 1
        piece = Piece("list_item" if _LIST.match(line) else "paragraph", at, end)
    found.pieces.append(piece)
    return piece.end


def _take(found: Outlined, keyword: str, value: str) -> None:
    """What a keyword says of the whole file."""
    match keyword:
        case "title":
            found.title = found.title or value
        case "date":
            found.dated = found.dated or written_date(value)
        case "filetags":
            found.tags += re.split(r"[:\s]+", value)
        case _:
            found.tags += value.split(",") if "," in value else value.split()


def _behind(lines: Sequence[str], at: int, closing: re.Pattern[str]) -> int:
    """Behind the line that closes what begins here; just behind it where nothing does."""
    for number in range(at + 1, len(lines)):
        if closing.match(lines[number]):
            return number + 1
        if _HEADING.fullmatch(lines[number]):
            break
    return at + 1


def _while(lines: Sequence[str], at: int, pattern: re.Pattern[str]) -> int:
    end = at
    while end < len(lines) and pattern.match(lines[end]):
        end += 1
    return end


def _begins(line: str) -> bool:
    return any(each.match(line) for each in (_BEGIN, _QUIET, _ROW, _LIST)) or bool(
        _HEADING.fullmatch(line) or _DRAWER.fullmatch(line)
    )
