"""Cut a document into chunks that can be quoted exactly.

A section is never mixed with another. Within it whole blocks are packed up to the size; a block over it is
cut at sentence ends (a table between rows, code between lines); only a sentence over it is cut inside, where
a line, a clause or a word ends if possible, and never within what a reader sees as one character.

Nothing is lost: every visible character of the body lies in a chunk. Not body are headings (they stand in the
headers of what follows them), what the document excludes, code blocks where they are not wanted, and a block
or sentence in which nothing can be read (an image without a description, a comment). A heading without a body
of its own and without subheadings would be found nowhere: neighbouring ones share a chunk under their parent.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest

from ragchat.chunking.chunk import Chunk, TokenCounter
from ragchat.chunking.graphemes import cluster_starts
from ragchat.chunking.header import Headers
from ragchat.chunking.options import ChunkOptions
from ragchat.chunking.pieces import LONGEST_RAW, Cutter, Piece
from ragchat.chunking.places import Breaks, all_sections
from ragchat.chunking.speech import Speech
from ragchat.documents.document import Document, Section, Span
from ragchat.documents.lines import Lines
from ragchat.documents.locators import place_of, same_place
from ragchat.errors import UsageError

SMALLEST_WINDOW = 48
"""Tokens; a third of it is the header's, a quarter of the rest a table's column names."""
_WHOLE = 10**9
"""Characters: for sections that nothing but the encoder's window may cut."""


def chunk_document(document: Document, options: ChunkOptions, counter: TokenCounter) -> list[Chunk]:
    """The document's chunks in order of their ranges; none for a document without words.

    Each has `document.text[start:end] == content` and at most `counter.window` tokens in `text`.
    Raises UsageError when the encoder's window is too small for any passage.
    """
    if counter.window < SMALLEST_WINDOW:
        raise UsageError(
            f"the embedding model reads only {counter.window} tokens at once, too few for a passage",
            hint=f"set embedding.model to one that reads {SMALLEST_WINDOW} tokens or more",
        )
    chunker = _Chunker(document, options, counter)
    return list(chunker.blindly() if options.strategy == "blind" else chunker.by_boundaries())


class _Chunker:
    def __init__(self, document: Document, options: ChunkOptions, counter: TokenCounter) -> None:
        self._document = document
        self._options = options
        self._counter = counter
        self._speech = Speech(document.text, document.silent)
        self._breaks = Breaks(_unwanted(document, options))
        self._size = _WHOLE if options.strategy == "sections" else options.size
        self._cutter = Cutter(document, self._size, counter, self._speech, self._breaks)
        self._headers = Headers(document.title, counter, counter.window // 3)
        self._sections = all_sections(document)
        self._section_starts = [section.start for section in self._sections]
        self._special_tokens = counter.count_tokens("")
        self._lines = Lines(document.text)

    def by_boundaries(self) -> Iterator[Chunk]:
        sections = self._sections
        bare: list[Section] = []
        for section, following in zip_longest(sections, islice(sections, 1, None)):
            body = self._pieces(section.path, section.body_start, section.end)
            if bare and (body or bare[0].path[:-1] != section.path[:-1]):
                yield from self._headings(bare)
                bare = []
            if body:
                yield from self._packed(section.path, body, section.body_start)
            elif section.path and not (following and _is_below(following, section)):
                bare.append(section)
        yield from self._headings(bare)

    def blindly(self) -> Iterator[Chunk]:
        for free in self._breaks.outside(0, len(self._document.text)):
            position, end = self._cutter.trimmed(free.start, free.end)
            while position < end:
                room = self._room(self._path_at(position))
                piece = next(
                    self._cutter.cut(position, end, self._options.size, room, self._cutter.blind_cut)
                )
                if not self._speech.is_blank(piece.start, piece.end):
                    yield from self._within_window(None, [piece], free.start)
                position, end = self._cutter.trimmed(piece.end, end)

    def _headings(self, sections: Sequence[Section]) -> Iterator[Chunk]:
        """Chunks of neighbouring headings that have nothing below them."""
        if sections:
            path = sections[0].path[:-1]
            lines = [self._pieces(path, section.start, section.body_start) for section in sections]
            yield from self._packed(path, list(chain.from_iterable(lines)), sections[0].start)

    def _path_at(self, position: int) -> tuple[str, ...]:
        """The section in which a position lies."""
        return self._sections[bisect_right(self._section_starts, position) - 1].path

    def _pieces(self, path: tuple[str, ...], start: int, end: int) -> list[Piece]:
        return list(self._cutter.pieces(start, end, self._room(path)))

    def _room(self, path: tuple[str, ...]) -> int:
        return self._counter.window - self._special_tokens - self._header(path)[1]

    def _header(self, path: tuple[str, ...]) -> tuple[str, int]:
        return self._headers.header(path) if self._options.header else ("", 0)

    def _packed(self, path: tuple[str, ...], pieces: Sequence[Piece], floor: int) -> Iterator[Chunk]:
        """Chunks of as many neighbouring pieces as fit; none begins its overlap before `floor`."""
        room = self._room(path)
        group: list[Piece] = []
        for piece in pieces:
            if group and not self._joins(group, piece, room):
                yield from self._within_window(path, group, floor)
                group = []
            group.append(piece)
        if group:
            yield from self._within_window(path, group, floor)

    def _joins(self, group: Sequence[Piece], piece: Piece, room: int) -> bool:
        start = group[0].start
        tokens = group[0].columns_tokens + sum(member.tokens for member in group) + piece.tokens
        return (
            tokens <= room
            and self._cutter.fits(start, piece.end, self._size)
            and not self._breaks.part(start, piece.end)
            and same_place(self._document.locators, start, piece.start)
        )

    def _within_window(
        self, path: tuple[str, ...] | None, group: Sequence[Piece], floor: int
    ) -> Iterator[Chunk]:
        """One chunk of the group; more where it has more tokens than the sum of its pieces.

        path: None for pieces that may lie across headings: each chunk is then labelled where it begins.
        """
        chunk = self._chunk(path, group, floor)
        if chunk.tokens <= self._counter.window:
            yield chunk
        elif len(group) > 1:
            middle = len(group) // 2
            yield from self._within_window(path, group[:middle], floor)
            yield from self._within_window(path, group[middle:], floor)
        else:
            for half in self._halves(group[0], chunk.tokens):
                yield from self._within_window(path, [half], floor)

    def _halves(self, piece: Piece, tokens: int) -> Iterator[Piece]:
        length = self._speech.length(piece.start, piece.end)
        if piece.end - piece.start == 1:
            character = self._document.text[piece.start]
            raise UsageError(
                f"{self._document.name}: a single character (U+{ord(character):04X}) with its header takes"
                f" {tokens} tokens, and the embedding model reads {self._counter.window}",
                hint="set embedding.model to one that reads more tokens",
            )
        cut = self._cutter.natural_cut
        for half in self._cutter.cut(piece.start, piece.end, max(1, length // 2), piece.tokens, cut):
            yield replace(half, columns=piece.columns, columns_tokens=piece.columns_tokens)

    def _chunk(self, path: tuple[str, ...] | None, group: Sequence[Piece], floor: int) -> Chunk:
        start, end = group[0].start, group[-1].end
        path = self._path_at(start) if path is None else path
        header, header_tokens = self._header(path)
        before = header + group[0].columns
        context_start = self._context_start(start, self._options.overlap, floor)
        text, tokens = self._counted(before, context_start, end)
        while tokens > self._counter.window and context_start < start:
            context_start = self._context_start(start, (start - context_start) // 2, floor)
            text, tokens = self._counted(before, context_start, end)
        return Chunk(
            document=self._document.name,
            title=self._document.title,
            section=path,
            start=start,
            end=end,
            first_line=self._lines.at(start) + 1,
            last_line=self._lines.at(end - 1) + 1,
            content=self._document.text[start:end],
            text=text,
            context_start=context_start,
            tokens=tokens,
            header_tokens=header_tokens,
            locator=place_of(self._document.locators, start, end),
            lead=self._document.text[context_start:start],
        )

    def _counted(self, before: str, start: int, end: int) -> tuple[str, int]:
        text = before + self._speech.words(start, end)
        return text, self._counter.count_tokens(text)

    def _context_start(self, start: int, overlap: int, floor: int) -> int:
        """Where at most `overlap` characters before `start` a word begins; `start` where none does."""
        floor = max(floor, self._breaks.last_before(start))
        earliest = max(floor, start - overlap)
        if earliest > floor:
            starts = cluster_starts(self._document.text, earliest - 1, start)
            after_space = (at for at in starts if self._document.text[at - 1].isspace())
            earliest = next(after_space, min(starts, default=start))
        silent = self._speech.silent_around(earliest)
        return self._cutter.trimmed(min(silent.end, start) if silent else earliest, start)[0]


def _unwanted(document: Document, options: ChunkOptions) -> list[Span]:
    """What no chunk may hold: exclusions, silent ranges that would swamp a quote, code that is not wanted."""
    endless = (span for span in document.silent if span.end - span.start > LONGEST_RAW * options.size)
    dropped = (block for block in document.blocks if block.kind == "code" and not options.code)
    return [*document.excluded, *endless, *(Span(block.start, block.end) for block in dropped)]


def _is_below(section: Section, parent: Section) -> bool:
    return len(section.path) > len(parent.path) and section.path[: len(parent.path)] == parent.path
