"""What a file becomes when it has been read, or why it could not be.

All ranges are half-open code point offsets into `Document.text`, the canonical text: for text and Markdown
the decoded file itself, newlines as they stand on disk, a byte order mark dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["heading", "paragraph", "list_item", "quote", "table", "code", "html"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range [start, end) of code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading, up to the next heading of any level.

    path: headings from the outermost to this one; () for the text before the first heading.
    start, end: the range, its own heading included; the sections of a document are in order and do not
        overlap.
    body_start: where the text after the heading begins; equal to start where there is no heading.
    """

    path: tuple[str, ...]
    start: int
    end: int
    body_start: int


@dataclass(frozen=True, slots=True)
class Block:
    """One piece of structure that is better not cut: a paragraph, a list item, a table, a code block.

    Blocks are leaves: in order, not overlapping, each within one section. Text between two blocks
    (blank lines, a list's indentation) belongs to none of them.
    header: for a table, the range of its column names, which the later parts of a cut table repeat in the
        text that is embedded.
    caption: for a table, the range of the words above it that say what it is of; repeated likewise.
    """

    kind: BlockKind
    start: int
    end: int
    header: Span | None = None
    caption: Span | None = None


@dataclass(frozen=True, slots=True)
class Locator:
    """Where a person would look for a range, beside its characters.

    kind, value: `page` 12, `slide` 3, `chapter` 2 and `cell` 7, all 1-based; `sheet` "Sheet1!A2:C2" for a
        row; `t` "132.4,158.9" in seconds for a subtitle.
    """

    kind: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read.

    name: path relative to the notes folder, with `/`, exactly as the file system gives it.
    title: from the front matter, else the first heading, else the file name without its suffix.
    encoding: the codec that decoded it, in Python's spelling ("utf-8", "cp932").
    silent: ranges that carry no words: link targets, image syntax, HTML tags, shortcodes, comments. They
        stay in what is quoted and are left out of what is embedded. In order, not overlapping.
    excluded: ranges that are never in a chunk: front matter, data blobs. In order, not overlapping.
    extractor: name and version of what read it ("markdown/1"); part of the stamp.
    digest: sha256 of the file's bytes, in hex.
    stored: whether the index must keep `text`, because decoding the file again does not give it.
    locators: in order, not overlapping.
    gaps: what of the file could not be read, one line each, "page 3: …"; the rest is in the text.
    tags: what its writer calls it, without `#`, each once.
    dated: the day that it says it is of, "2025-01-31"; "" where it says none.
    """

    name: str
    title: str
    text: str
    encoding: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    silent: tuple[Span, ...]
    excluded: tuple[Span, ...]
    locators: tuple[Locator, ...]
    extractor: str
    digest: str
    stored: bool = False
    gaps: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    dated: str = ""


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A file that could not be read: a value, not an error, because the others go on.

    reason: one line that says what is wrong with this file.
    hint: what the user can do about it.
    """

    name: str
    reason: str
    hint: str
    digest: str = ""
    extractor: str = ""
