"""Build the readable text of a page: paragraphs, headings, list items, tables, each with its range."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ragchat.documents.blobs import data_blobs
from ragchat.documents.document import Block, BlockKind, Document, Locator, Span
from ragchat.documents.headings import Heading, sections_of
from ragchat.documents.labels import plain_label, title_from_name
from ragchat.documents.spans import cut_blocks
from ragchat.documents.tables import with_captions

_SPACE = re.compile(r"\s+")
_BLANKS = re.compile(r"[^\S\n]+")
_AROUND_BREAKS = re.compile(r" ?\n ?")


class Page:
    """Collects words until a block ends, then puts the block into the text."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings: list[Heading] = []
        self._words: list[str] = []
        self._level = 0
        self._verbatim = False
        self._lists: list[int | None] = []
        # "quote", or what stands before the first words of a list item: "- ", "3. ", afterwards "".
        self._around: list[tuple[BlockKind, str]] = []
        self._places: list[Locator] = []

    @property
    def first_heading(self) -> str:
        """The words of the first heading that has any; "" where there is none."""
        return next((heading.words for heading in self._headings if heading.words), "")

    def add(self, text: str) -> None:
        """Words as they stand in the source; blanks are collapsed when the block ends."""
        if text:
            self._words.append(text if self._verbatim else _SPACE.sub(" ", text))

    def break_line(self) -> None:
        """A line break that the page asks for."""
        self._words.append("\n")

    def begin_place(self, kind: str, value: str) -> None:
        """What follows lies on this page, slide or the like, up to the next place."""
        self.end_block()
        self._places.append(Locator(kind, value, self._length, self._length))

    def end_section(self) -> None:
        """What follows lies under no heading so far."""
        self.end_block()
        self._headings.append(Heading(1, "", self._length, self._length))

    def begin_heading(self, level: int) -> None:
        """The words up to the end of the block are a heading."""
        self._level = level

    def begin_verbatim(self) -> None:
        """Blanks and line breaks count up to the end of the block."""
        self._verbatim = True

    def begin_list(self, *, first_number: int | None) -> None:
        """A numbered list, or one of bullets where there is no first number."""
        self._lists.append(first_number)

    def end_list(self) -> None:
        """Go back to the list around it."""
        if self._lists:
            self._lists.pop()

    def begin_item(self) -> None:
        """An item of the innermost list."""
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        self._around.append(("list_item", "- " if number is None else f"{number}. "))

    def begin_quote(self) -> None:
        """Quoted from somebody else."""
        self._around.append(("quote", ""))

    def end_container(self) -> None:
        """The item or the quotation ends."""
        if self._around:
            self._around.pop()

    def end_block(self) -> None:
        """Put the collected words into the text, if there are any."""
        text = "".join(self._words)
        self._words = []
        level, verbatim = self._level, self._verbatim
        self._level, self._verbatim = 0, False
        if verbatim:
            body = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").rstrip()
            self._put(body, "code")
            return
        text = _AROUND_BREAKS.sub("\n", _BLANKS.sub(" ", text)).strip()
        if level and text:
            start = self._put(" ".join(text.split()), "heading")
            self._headings.append(Heading(level, plain_label(text), start, self._length))
        elif text:
            kind, marker = self._around[-1] if self._around else ("paragraph", "")
            if marker:
                self._around[-1] = (kind, "")
            self._put(marker + text, kind)

    def add_table(
        self,
        rows: Sequence[Sequence[str]],
        *,
        naming_rows: int = 0,
        caption: str = "",
        places: Sequence[str] = (),
    ) -> None:
        """A table, a row a line; cells without words at the end of a row are left out.

        naming_rows: how many rows at the top hold names and units of columns. caption: what it is a table of.
        places: for each row its cells, as the value of a `sheet` locator.
        """
        self.end_block()
        lines = [line_of_cells(row) for row in rows]
        shown = [line for line in lines if line]
        if not shown:
            return
        above = self._put(caption, "paragraph") if caption else -1
        start = self._put("\n".join(shown), "table")
        names = "\n".join(line for line in lines[:naming_rows] if line)
        self._blocks[-1] = replace(
            self._blocks[-1],
            header=Span(start, start + len(names)) if names else None,
            caption=Span(above, above + len(caption)) if caption else None,
        )
        at = start
        for line, place in zip(lines, places, strict=False):
            if line:
                self._places.append(Locator("sheet", place, at, at + len(line)))
                at += len(line) + 1

    def put_block(
        self, kind: BlockKind, text: str, *, level: int = 0, places: Sequence[tuple[int, str, str]] = ()
    ) -> None:
        """A block with its final text, without blanks around it. level: of a heading.

        places: where in the text a place begins, as (offset, kind, value).
        """
        self.end_block()
        start = self._put(text, kind)
        self._places += [Locator(where, value, start + at, start + at) for at, where, value in places]
        if level:
            self._headings.append(Heading(level, plain_label(text), start, self._length))

    def finish(
        self,
        *,
        name: str,
        digest: str,
        extractor: str,
        title: str = "",
        encoding: str = "",
        gaps: tuple[str, ...] = (),
    ) -> Document:
        """The document of all that was put in. title: unless it has none, in which case its first heading."""
        self.end_block()
        text = "".join(self._parts)
        excluded = data_blobs(text)
        return Document(
            name=name,
            title=plain_label(title) or self.first_heading or title_from_name(name),
            text=text,
            encoding=encoding,
            sections=tuple(
                section
                for section in sections_of(self._headings, 0, self._length)
                if section.start < section.end
            ),
            blocks=tuple(cut_blocks(text, with_captions(text, self._blocks), excluded)),
            silent=(),
            excluded=tuple(excluded),
            locators=self._locators(),
            extractor=extractor,
            digest=digest,
            stored=True,
            gaps=gaps,
        )

    def _locators(self) -> tuple[Locator, ...]:
        """Each place up to the next one, unless it says itself where it ends; empty ones left out."""
        ends = [*(place.start for place in self._places[1:]), self._length]
        open_ended = (
            place if place.end > place.start else replace(place, end=end)
            for place, end in zip(self._places, ends, strict=False)
        )
        return tuple(place for place in open_ended if place.end > place.start)

    def _put(self, text: str, kind: BlockKind) -> int:
        """Append a block and return where it starts."""
        if not text.strip():
            return self._length
        if self._blocks:
            items = kind == "list_item" and self._blocks[-1].kind == "list_item"
            self._append("\n" if items else "\n\n")
        start = self._length
        self._append(text)
        self._blocks.append(Block(kind, start, self._length))
        return start

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def line_of_cells(row: Sequence[str]) -> str:
    """A row of a table as one line; a break within a cell becomes a blank."""
    return " | ".join(" ".join(cell.split()) for cell in row).rstrip(" |").lstrip()
