"""Which lines of a Markdown text make which block: every line that is not blank belongs to exactly one.

markdown-it finds the blocks. It keeps nothing of some lines (definitions of references, lone markers, what
is nested too deep); those become pieces of their own here, or go with the block right above them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragchat.documents.document import BlockKind

# Outlines nest deeper than the twenty levels that are allowed by default: an inner list takes two of them.
_PARSER = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table"])
_LEAVES: dict[str, BlockKind] = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "fence": "code",
    "code_block": "code",
    "html_block": "html",
    "table_open": "table",
    "hr": "paragraph",
}
_CONTAINERS: dict[str, BlockKind] = {"list_item_open": "list_item", "blockquote_open": "quote"}
_LONE_MARKERS = re.compile(r"[\s>]*(?:(?:[-+*]|\d{1,9}[.)])[\s>]*)*")
_DEFINITION = re.compile(r"[ \t>]*\[(?!\^)[^\[\]]+\]:")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block as a range of 0-based lines, [first, end).

    level, label: of a heading that begins a section, and its inline source; 0 and "" elsewhere.
    names: for a table, the line of its column names.
    silent: whether it carries no words at all, as a rule or a definition does.
    """

    kind: BlockKind
    first: int
    end: int
    level: int = 0
    label: str = ""
    names: int | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """Pieces in order, not overlapping; the labels of references that have a definition."""

    pieces: tuple[Piece, ...]
    references: frozenset[str]


def outline(lines: Sequence[str]) -> Outline:
    """The pieces of a Markdown text given as its lines, without their line breaks."""
    tokens: list[Token] = []
    environment: dict[str, dict[str, object]] = {}
    _PARSER.block.parse("\n".join(lines).replace("\0", "\ufffd"), _PARSER, environment, tokens)
    pieces: list[Piece] = []
    for piece in _pieces_of(tokens):
        at = pieces[-1].end if pieces else 0
        if piece.end > max(at, piece.first):
            _add_left_out(pieces, lines, at, piece.first)
            pieces.append(replace(piece, first=max(piece.first, pieces[-1].end if pieces else 0)))
    _add_left_out(pieces, lines, pieces[-1].end if pieces else 0, len(lines))
    return Outline(tuple(pieces), frozenset(environment.get("references", {})))


def _pieces_of(tokens: Sequence[Token]) -> list[Piece]:
    pieces: list[Piece] = []
    around: list[BlockKind] = []
    for index, token in enumerate(tokens):
        if token.type in _CONTAINERS:
            around.append(_CONTAINERS[token.type])
        elif token.type in {"list_item_close", "blockquote_close"}:
            around.pop()
        elif token.type in _LEAVES and token.map is not None:
            kind = _LEAVES[token.type]
            first, end = token.map
            piece = Piece(kind, first, end, silent=token.type == "hr")
            if kind == "table":
                piece = replace(piece, names=first)
            elif kind == "heading" and not around:
                piece = replace(piece, level=int(token.tag[1:]), label=tokens[index + 1].content)
            elif kind in {"paragraph", "heading"} and around:
                piece = replace(piece, kind=around[-1])
            pieces.append(piece)
    return pieces


def _add_left_out(pieces: list[Piece], lines: Sequence[str], first: int, end: int) -> None:
    """Give the lines [first, end), which no block claims, to the block above or to pieces of their own."""
    at = first
    while at < end:
        if not lines[at].strip():
            at += 1
            continue
        stop = at
        while stop < end and lines[stop].strip():
            stop += 1
        markers = at
        while markers < stop and _LONE_MARKERS.fullmatch(lines[markers]):
            markers += 1
        if markers > at and pieces and pieces[-1].end == at and pieces[-1].kind != "heading":
            pieces[-1] = replace(pieces[-1], end=markers)
        elif markers > at:
            pieces.append(Piece("quote" if lines[at].lstrip().startswith(">") else "list_item", at, markers))
        if markers < stop:
            silent = _DEFINITION.match(lines[markers]) is not None
            pieces.append(Piece("paragraph", markers, stop, silent=silent))
        at = stop


def heading_words(label: str, references: frozenset[str]) -> str:
    """The words of a heading from its inline source, markup and all that carries no words removed."""
    known = {"references": {name: {"href": "", "title": ""} for name in references}}
    [inline] = _PARSER.parseInline(label, known)
    return "".join(_words_of(inline.children or []))


def _words_of(tokens: Sequence[Token]) -> list[str]:
    words: list[str] = []
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"}:
            words.append(" ")
        elif token.type == "image":
            words += _words_of(token.children or [])
        elif token.type != "html_inline":
            words.append(token.content)
    return words
