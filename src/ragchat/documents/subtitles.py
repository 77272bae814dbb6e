"""Subtitles (.srt, .vtt): the file's own text, each cue with its time; numbers and times are silent."""

from __future__ import annotations

import re

from ragchat.documents.document import Document, FailedDocument, Locator, Span
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.lines import Lines
from ragchat.documents.markdown_lines import Piece
from ragchat.documents.outlined import Outlined, texts_of

EXTRACTOR = "subtitles/1"

_MOMENT = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})"
_TIMES = re.compile(rf"\s*{_MOMENT}\s*-->\s*{_MOMENT}")
_MARKUP = re.compile(r"</?[a-zA-Z][^<>\r\n]*>|<[\d:.]+>|\{\\[^{}\r\n]*\}")
_OTHER = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)\b")


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """A file of subtitles as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    text = decoded.text
    lines = Lines(text)
    found = Outlined()
    at, texts = 0, texts_of(text, lines)
    while at < len(texts):
        if not texts[at].strip():
            at += 1
            continue
        end = at
        while end < len(texts) and texts[end].strip():
            end += 1
        _take(found, text, lines, at, end)
        at = end
    found.silent += [Span(*match.span()) for match in _MARKUP.finditer(text)]
    return found.document(decoded, lines, name=name, digest=digest, extractor=EXTRACTOR)


def _take(found: Outlined, text: str, lines: Lines, first: int, end: int) -> None:
    """One run of lines: a cue, or what is none."""
    for number in range(first, min(end, first + 3)):
        times = _TIMES.match(text, lines.start(number), lines.end(number))
        if times is None:
            continue
        parts = times.groups()
        value = f"{_seconds(*parts[:4])},{_seconds(*parts[4:])}"
        found.pieces.append(Piece("paragraph", first, end))
        found.silent.append(Span(lines.start(first), lines.end(number)))
        found.locators.append(Locator("t", value, lines.start(first), lines.end(end - 1)))
        return
    silent = _OTHER.match(text, lines.start(first)) is not None
    found.pieces.append(Piece("paragraph", first, end, silent=silent))


def _seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> str:
    """As a media fragment has it: 132.4."""
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000
    return f"{whole:.3f}".rstrip("0").rstrip(".")
