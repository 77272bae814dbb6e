"""Cut a range into pieces that chunks are packed from: whole blocks, else sentences, else what fits."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ragchat.chunking.chunk import TokenCounter
from ragchat.chunking.graphemes import begins_cluster, cluster_starts, has_visible
from ragchat.chunking.places import Breaks
from ragchat.chunking.sentences import line_spans, sentence_spans
from ragchat.chunking.speech import Speech
from ragchat.documents.document import Block, BlockKind, Document

LONGEST_RAW = 4
"""A passage is at most so many times `size` long with its silent ranges, so that a quote stays readable."""

_LINE_END = re.compile(r"[\r\n]")

# Where a sentence that is too long is cut, best first; the part before holds at least one over so much of it.
_ENDINGS = (
    (re.compile(r"\r\n|[\r\n]"), 4),
    (re.compile(r"[。！？][」』）】〉》〕”’]*+|[.!?…]\s"), 4),
    (re.compile(r"[；：、，．…]|[;:,]\s"), 2),
    (re.compile(r"\s"), 2),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A range that is not cut any further. tokens: of its words, without special tokens and columns.

    columns: the column names of the table of which this is a later row, else "".
    """

    start: int
    end: int
    tokens: int
    columns: str = ""
    columns_tokens: int = 0


CutPoint = Callable[[int, int], int]
"""(start, limit) -> where to cut, in (start, limit]."""


class Cutter:
    """Cuts ranges of one document into pieces of at most `size` characters."""

    def __init__(
        self, document: Document, size: int, counter: TokenCounter, speech: Speech, breaks: Breaks
    ) -> None:
        self._text = document.text
        self._blocks = document.blocks
        self._block_starts = [block.start for block in document.blocks]
        self._size = size
        self._counter = counter
        self._special_tokens = counter.count_tokens("")
        self._speech = speech
        self._breaks = breaks

    def pieces(self, start: int, end: int, room: int) -> Iterator[Piece]:
        """Pieces of text[start:end], in order, each of at most `room` tokens.

        Every non-blank character outside breaks lies in one, unless all that is around it is silent.
        """
        for unit in self._units(start, end):
            for free in self._breaks.outside(unit.start, unit.end):
                yield from self._pieces_of(replace(unit, start=free.start, end=free.end), room)

    def fits(self, start: int, end: int, size: int) -> bool:
        """Whether [start, end) is a passage of `size` characters at most."""
        return end - start <= LONGEST_RAW * size and self._speech.length(start, end) <= size

    def count(self, words: str) -> int:
        """Tokens of a text without the special ones."""
        return self._counter.count_tokens(words) - self._special_tokens

    def _units(self, start: int, end: int) -> Iterator[Block]:
        """Blocks widened to whole lines, and the lines between them: together all of [start, end)."""
        position = start
        first = max(0, bisect_right(self._block_starts, start) - 1)
        last = bisect_left(self._block_starts, end)
        for number in range(first, last):
            block = self._blocks[number]
            if block.end <= position:
                continue
            next_start = self._block_starts[number + 1] if number + 1 < last else end
            block_start = self._line_start(max(block.start, position), position)
            block_end = min(self._line_end(min(block.end, end), end), max(next_start, block.end))
            yield from self._loose(position, block_start)
            yield replace(block, start=block_start, end=min(block_end, end))
            position = min(block_end, end)
        yield from self._loose(position, end)

    def _loose(self, start: int, end: int) -> Iterator[Block]:
        if start < end:
            yield Block("paragraph", start, end)

    def _line_start(self, position: int, floor: int) -> int:
        return max(
            floor, self._text.rfind("\n", floor, position) + 1, self._text.rfind("\r", floor, position) + 1
        )

    def _line_end(self, position: int, ceiling: int) -> int:
        if position and self._text[position - 1] in "\r\n":
            return position
        line_end = _LINE_END.search(self._text, position, ceiling)
        return line_end.start() if line_end else ceiling

    def _pieces_of(self, unit: Block, room: int) -> Iterator[Piece]:
        whole = self.trimmed(unit.start, unit.end)
        piece = self._piece_if_small(*whole, room)
        if piece is not None:
            yield from self._visible(piece)
            return
        columns, columns_tokens = self._columns(unit, room // 4)
        for start, end in self._unbroken_spans(unit.kind, *whole):
            later_row = start >= (unit.header.end if unit.header else whole[0] + 1)
            names, names_tokens = (columns, columns_tokens) if later_row else ("", 0)
            small = self._piece_if_small(start, end, room - names_tokens)
            parts = (
                [small] if small else self.cut(start, end, self._size, room - names_tokens, self.natural_cut)
            )
            for part in parts:
                yield from self._visible(Piece(part.start, part.end, part.tokens, names, names_tokens))

    def _visible(self, piece: Piece) -> Iterator[Piece]:
        if piece.start < piece.end and has_visible(self._speech.words(piece.start, piece.end)):
            yield piece

    def _piece_if_small(self, start: int, end: int, room: int) -> Piece | None:
        if not self.fits(start, end, self._size):
            return None
        tokens = self.count(self._speech.words(start, end))
        return Piece(start, end, tokens) if tokens <= room else None

    def _columns(self, unit: Block, room: int) -> tuple[str, int]:
        """Caption and column names of a table and their tokens.

        Of too many the caption is left out, then the last names.
        """
        caption, names = (
            self._speech.words(span.start, span.end) if span else "" for span in (unit.caption, unit.header)
        )
        both = f"{caption}\n{names}".strip()
        if len(both) <= self._size and (tokens := self.count(both + "\n")) <= room:
            return (both + "\n", tokens) if both else ("", 0)
        names = names[: self._size]
        while names and (tokens := self.count(names + "\n")) > room:
            names = names[: len(names) // 2]
        return (names + "\n", tokens) if names else ("", 0)

    def _unbroken_spans(self, kind: BlockKind, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Rows, lines or sentences, joined where a silent range would be cut between them."""
        spans = (line_spans if kind in ("table", "code") else sentence_spans)(self._text, start, end)
        open_start = None
        for span_start, span_end in spans:
            open_start = span_start if open_start is None else open_start
            if not self._speech.silent_around(span_end):
                yield open_start, span_end
                open_start = None
        if open_start is not None:
            yield open_start, end

    def cut(self, start: int, end: int, size: int, room: int, cut_point: CutPoint) -> Iterator[Piece]:
        """Pieces of [start, end), of at most `size` characters and `room` tokens; the last may be empty."""
        start, end = self.trimmed(start, end)
        while start < end:
            limit = self._furthest(start, end, size)
            stop = end if limit == end else cut_point(start, limit)
            tokens = self.count(self._speech.words(start, stop))
            while tokens > room and stop - start > 1:
                stop = cut_point(start, start + max(1, (stop - start) * max(room, 1) // tokens))
                tokens = self.count(self._speech.words(start, stop))
            yield Piece(*self.trimmed(start, stop), tokens)
            start, end = self.trimmed(stop, end)

    def _furthest(self, start: int, end: int, size: int) -> int:
        reach = range(start + 1, min(end, start + LONGEST_RAW * size) + 1)
        return start + max(1, bisect_right(reach, size, key=lambda stop: self._speech.length(start, stop)))

    def natural_cut(self, start: int, limit: int) -> int:
        """Cut after a line or a stop, else a clause, else a word; else between any two characters."""
        for ending, share in _ENDINGS:
            earliest = start + 1 + (limit - start) // share
            ends = [match.end() for match in ending.finditer(self._text, earliest - 1, limit)]
            for cut in reversed(ends):
                if (
                    cut >= earliest
                    and begins_cluster(self._text, cut)
                    and not self._speech.silent_around(cut)
                ):
                    return cut
        starts = cluster_starts(self._text, start, limit)
        outside = (cut for cut in reversed(starts) if not self._speech.silent_around(cut))
        return next(outside, starts[-1] if starts else limit)

    def blind_cut(self, start: int, limit: int) -> int:
        """Cut at the limit itself, or before the character that it would cut in two."""
        return max(cluster_starts(self._text, start, limit), default=limit)

    def trimmed(self, start: int, end: int) -> tuple[int, int]:
        """The range without white space around it."""
        while start < end and self._text[start].isspace():
            start += 1
        while start < end and self._text[end - 1].isspace():
            end -= 1
        return start, end
