"""A text kept as it is, with the pieces that its markup makes of its lines: for light markup and code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ragchat.documents.blobs import data_blobs
from ragchat.documents.document import Block, Document, Locator, Span
from ragchat.documents.encoding import Decoded
from ragchat.documents.headings import Heading, sections_of
from ragchat.documents.labels import plain_label, title_from_name
from ragchat.documents.lines import Lines
from ragchat.documents.markdown_lines import Piece
from ragchat.documents.spans import cut_blocks, merged, subtract, trimmed
from ragchat.documents.tables import with_captions
from ragchat.documents.tags import tidied


@dataclass(slots=True)
class Outlined:
    """What a reader found in the lines of a text.

    pieces: in order, not overlapping; lines in none of them become paragraphs. A piece with a level begins a
        section under its label. silent, excluded, locators: as in `Document`, in any order.
    tags: as they are written.
    """

    pieces: list[Piece] = field(default_factory=list)
    silent: list[Span] = field(default_factory=list)
    excluded: list[Span] = field(default_factory=list)
    locators: list[Locator] = field(default_factory=list)
    title: str = ""
    tags: list[str] = field(default_factory=list)
    dated: str = ""

    def document(self, decoded: Decoded, lines: Lines, *, name: str, digest: str, extractor: str) -> Document:
        """The document of a file whose text this is."""
        text = decoded.text
        excluded = merged([*self.excluded, *data_blobs(text)])
        pieces = _covering(self.pieces, text, lines)
        blocks = [_block(text, lines, piece) for piece in pieces]
        headings = [
            Heading(piece.level, plain_label(piece.label), lines.start(piece.first), lines.start(piece.end))
            for piece in pieces
            if piece.level
        ]
        code = [Span(block.start, block.end) for block in blocks if block.kind == "code"]
        quiet = [
            Span(block.start, block.end) for piece, block in zip(pieces, blocks, strict=True) if piece.silent
        ]
        first = next((heading.words for heading in headings if heading.words), "")
        sections = sections_of(headings, 0, len(text))
        return Document(
            name=name,
            title=plain_label(self.title) or first or title_from_name(name),
            text=text,
            encoding=decoded.encoding,
            sections=tuple(section for section in sections if section.start < section.end),
            blocks=tuple(cut_blocks(text, with_captions(text, blocks), excluded)),
            silent=tuple(subtract(subtract(merged([*self.silent, *quiet]), merged(code)), excluded)),
            excluded=tuple(excluded),
            locators=tuple(sorted(self.locators, key=lambda place: place.start)),
            extractor=extractor,
            digest=digest,
            tags=tidied(self.tags),
            dated=self.dated,
        )


def _covering(pieces: Iterable[Piece], text: str, lines: Lines) -> list[Piece]:
    """The pieces, and a paragraph for each run of lines between them that is not blank."""
    whole: list[Piece] = []
    at = 0
    for piece in [*pieces, Piece("paragraph", len(lines), len(lines))]:
        whole += paragraphs(text, lines, at, piece.first)
        if piece.first < piece.end:
            whole.append(piece)
        at = max(at, piece.end)
    return [piece for piece in whole if text[lines.start(piece.first) : lines.end(piece.end - 1)].strip()]


def paragraphs(text: str, lines: Lines, first: int, end: int) -> list[Piece]:
    """Runs of lines that are not blank."""
    found: list[Piece] = []
    start = None
    for number in range(first, end + 1):
        blank = number == end or not text[lines.start(number) : lines.end(number)].strip()
        if blank and start is not None:
            found.append(Piece("paragraph", start, number))
            start = None
        elif not blank and start is None:
            start = number
    return found


def texts_of(text: str, lines: Lines) -> Sequence[str]:
    """The lines without their breaks."""
    return [text[lines.start(number) : lines.end(number)] for number in range(len(lines))]


def _block(text: str, lines: Lines, piece: Piece) -> Block:
    span = trimmed(text, lines.start(piece.first), lines.end(piece.end - 1))
    names = None
    if piece.names is not None:
        names = trimmed(text, lines.start(piece.names), lines.end(piece.names))
    return Block(piece.kind, span.start, span.end, names if names and names.start < names.end else None)
