"""A chunk: the passage that is embedded, found, sent and cited.

A chunk has two texts. `text` is what the encoder reads: a header that says where we are, then the words.
`content` is only the document's own words, so that `document.text[start:end] == content` holds for every
chunk ever made. Nothing downstream may quote `text`.

It has two ranges, too. Its own, [start, end), is what is cited. With overlap it is sent with the words before
it: [context_start, end) is what the prompt carries, and what counts as found when retrieval is measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of one document.

    start, end: half-open code point range of `content` in the document's text.
    first_line, last_line: 1-based, as an editor counts them (CRLF, CR and LF each end a line).
    context_start: where the overlap with the passage before begins; equal to start without overlap.
        The overlap is part of `text`, never of `content`.
    lead: the overlap as it stands in the document, from context_start to start.
    tokens: tokens of `text`, special tokens included, by the encoder's own tokenizer.
    header_tokens: how many of them are the header's.
    locator: beside the characters, "page=12" and the like; "" where there is none.
    """

    document: str
    title: str
    section: tuple[str, ...]
    start: int
    end: int
    first_line: int
    last_line: int
    content: str
    text: str
    context_start: int
    tokens: int
    header_tokens: int
    locator: str = ""
    lead: str = ""

    @property
    def sent(self) -> str:
        """What the model reads of it: the document's own words from context_start to end."""
        return self.lead + self.content


class TokenCounter(Protocol):
    """Counts as the encoder that will read the chunks does."""

    @property
    def window(self) -> int:
        """The most tokens the encoder reads at once, special tokens included."""

    def count_tokens(self, text: str) -> int:
        """Tokens of `text`, special tokens included, without truncation."""
