"""Markdown as a document: sections by heading path, blocks, and what carries no words.

The text stays the file's own, so its ranges are true of the file. A note's front matter, its data blobs and
comments that stand alone are excluded; `#` in code and in front matter is no heading, because a real parser
decides what is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ragchat.documents.blobs import data_blobs
from ragchat.documents.document import Block, Document, FailedDocument, Span
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.front_matter import front_matter
from ragchat.documents.headings import Heading, sections_of
from ragchat.documents.inline import silent_in_html, silent_in_markdown
from ragchat.documents.labels import plain_label, title_from_name
from ragchat.documents.lines import Lines
from ragchat.documents.markdown_lines import Outline, Piece, heading_words, outline
from ragchat.documents.spans import cut_blocks, merged, subtract, trimmed
from ragchat.documents.tables import with_captions
from ragchat.documents.tags import hashtags, tidied

EXTRACTOR = "markdown/3"

_COMMENTS = re.compile(r"(?:<!--(?:(?!-->).)*+-->\s*+)++", re.DOTALL)
_ATTRIBUTES = re.compile(r"[ \t]*\{[ \t]*[#.:][^{}]*\}[ \t]*$")
_IN_BRACES = re.compile(r"\{\{[<%].*?[%>]\}\}|\{%.*?%\}", re.DOTALL)
_WIKI = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_NOT_BREAKS = re.compile(r"[^\r\n]+")
# Nobody's heading is longer: a paragraph above a rule reads as one, and would be quoted by no chunk.
_LONGEST_HEADING = 300


def parse(data: bytes, name: str, digest: str) -> Document | FailedDocument:
    """A Markdown file as a document, or why it is none."""
    decoded = decode(data)
    if isinstance(decoded, Undecodable):
        return FailedDocument(name, decoded.reason, decoded.hint, digest, EXTRACTOR)
    text = decoded.text
    front = front_matter(text)
    body = front.end if front else 0
    found = structure_of(text, body)
    excluded = merged([*([Span(0, body)] if front else []), *found.excluded])
    first_heading = next((heading.words for heading in found.headings if heading.words), "")
    return Document(
        name=name,
        title=(front.title if front else "") or first_heading or title_from_name(name),
        text=text,
        encoding=decoded.encoding,
        sections=sections_of(found.headings, body, len(text)),
        blocks=tuple(found.blocks),
        silent=tuple(found.silent),
        excluded=tuple(excluded),
        locators=(),
        extractor=EXTRACTOR,
        digest=digest,
        tags=tidied([*(front.tags if front else ()), *hashtags(text, found.blocks, found.silent)]),
        dated=front.dated if front else "",
    )


@dataclass(frozen=True, slots=True)
class Structure:
    """What is known of ranges of a Markdown text; each list in order."""

    headings: list[Heading]
    blocks: list[Block]
    silent: list[Span]
    excluded: list[Span]


def structure_of(text: str, body: int = 0) -> Structure:
    """The structure of `text[body:]`, with offsets into `text`."""
    blobs = data_blobs(text, body)
    lines = Lines(text, body)
    found = outline(_lines_to_parse(text, body, blobs))
    pieces = [_as_text_if_too_long(piece) for piece in found.pieces]
    blocks = [_block(text, lines, piece) for piece in pieces]
    comments = [Span(block.start, block.end) for block in blocks if _is_only_comments(text, block)]
    excluded = merged([*blobs, *comments])
    return Structure(
        headings=[_heading(lines, piece, found.references) for piece in pieces if piece.level],
        blocks=cut_blocks(text, with_captions(text, blocks), excluded),
        silent=subtract(merged(_silent(text, lines, pieces, blocks, found)), excluded),
        excluded=excluded,
    )


def _lines_to_parse(text: str, body: int, blobs: Sequence[Span]) -> list[str]:
    """The body's lines for the parser, a short word in place of each line of a blob: it is slow on those."""
    parts, at = [], body
    for blob in blobs:
        parts += [text[at : blob.start], _NOT_BREAKS.sub("x", text[blob.start : blob.end])]
        at = blob.end
    parts.append(text[at:])
    masked = "".join(parts)
    lines = Lines(masked)
    return [masked[lines.start(line) : lines.end(line)] for line in range(len(lines))]


def _as_text_if_too_long(piece: Piece) -> Piece:
    if len(piece.label) <= _LONGEST_HEADING:
        return piece
    return Piece("paragraph", piece.first, piece.end)


def _block(text: str, lines: Lines, piece: Piece) -> Block:
    span = trimmed(text, lines.start(piece.first), lines.end(piece.end - 1))
    names = None
    if piece.names is not None:
        names = trimmed(text, lines.start(piece.names), lines.end(piece.names))
    return Block(piece.kind, span.start, span.end, names)


def _is_only_comments(text: str, block: Block) -> bool:
    return block.kind == "html" and _COMMENTS.fullmatch(text, block.start, block.end) is not None


def _heading(lines: Lines, piece: Piece, references: frozenset[str]) -> Heading:
    source = _IN_BRACES.sub("", _WIKI.sub(r"\1", _ATTRIBUTES.sub("", piece.label)))
    words = plain_label(heading_words(source, references))
    return Heading(piece.level, words, lines.start(piece.first), lines.start(piece.end))


def _silent(
    text: str, lines: Lines, pieces: Sequence[Piece], blocks: Sequence[Block], found: Outline
) -> list[Span]:
    spans: list[Span] = []
    for piece, block in zip(pieces, blocks, strict=True):
        if piece.silent:
            spans.append(Span(block.start, block.end))
        elif piece.kind == "html":
            spans += silent_in_html(text, block.start, block.end)
        elif piece.kind != "code":
            spans += silent_in_markdown(text, block.start, block.end, found.references)
        if piece.names is not None:
            # The row of dashes under the column names.
            spans.append(trimmed(text, lines.start(piece.names + 1), lines.end(piece.names + 1)))
    return spans
