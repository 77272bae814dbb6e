"""Build the readable text of a page: paragraphs, headings, list items, tables, each with its range."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragchat.documents.document import Block, BlockKind, Section, Span
from ragchat.documents.headings import Heading, sections_of
from ragchat.documents.labels import plain_label

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

    def add_table(self, rows: Sequence[Sequence[str]], *, first_row_names: bool) -> None:
        """A table, a row a line."""
        self.end_block()
        lines = [" | ".join(row) for row in rows if any(row)]
        start = self._put("\n".join(lines), "table")
        if first_row_names and lines and rows and any(rows[0]):
            last = self._blocks[-1]
            self._blocks[-1] = Block("table", last.start, last.end, Span(start, start + len(lines[0])))

    def finish(self) -> tuple[str, list[Block]]:
        """The whole text and its blocks."""
        self.end_block()
        return "".join(self._parts), self._blocks

    def sections(self) -> tuple[Section, ...]:
        """The sections of the text finished before."""
        return sections_of(self._headings, 0, self._length)

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
