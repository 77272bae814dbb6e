"""What of a document's text is read aloud to the encoder: everything but its silent ranges."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from ragchat.chunking.graphemes import has_visible
from ragchat.documents.document import Span

# Tags that stand inside a word or a phrase: leaving them out must not part "H<sub>2</sub>O". Any other tag or
# comment parts words, as <br> and <td> do.
_INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|bdi|bdo|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|q|s|samp|small|span|strong|sub|sup"
    r"|time|tt|u|var|wbr)\b",
    re.IGNORECASE,
)


class Speech:
    """The words of one text, its silent ranges left out. Ranges are half-open code point offsets."""

    def __init__(self, text: str, silent: Sequence[Span]) -> None:
        self._text = text
        self._silent = [span for span in silent if span.end > span.start]
        self._starts = [span.start for span in self._silent]
        self._silent_before = [0, *accumulate(span.end - span.start for span in self._silent)]

    def length(self, start: int, end: int) -> int:
        """Characters of [start, end) outside silent ranges."""
        return end - start - (self._silence(end) - self._silence(start))

    def _silence(self, position: int) -> int:
        before = bisect_right(self._starts, position) - 1
        if before < 0:
            return 0
        span = self._silent[before]
        return self._silent_before[before] + min(position, span.end) - span.start

    def silent_around(self, position: int) -> Span | None:
        """The silent range that a cut at `position` would cut in two."""
        before = bisect_right(self._starts, position) - 1
        if before < 0:
            return None
        span = self._silent[before]
        return span if span.start < position < span.end else None

    def words(self, start: int, end: int) -> str:
        """[start, end) as it is embedded: without silence, one space or line break between words."""
        kept: list[str] = []
        position = start
        first = max(0, bisect_right(self._starts, start) - 1)
        for span in self._silent[first : bisect_left(self._starts, end)]:
            if span.end <= start:
                continue
            kept.append(self._text[position : max(position, span.start)])
            kept.append(self._pause(span))
            position = span.end
        kept.append(self._text[position : max(position, end)])
        lines = (" ".join(line.split()) for line in "".join(kept).splitlines())
        return encodable("\n".join(line for line in lines if line))

    def _pause(self, span: Span) -> str:
        if self._text[span.start] == "<" and not _INLINE_TAG.match(self._text, span.start):
            return " "
        return ""

    def is_blank(self, start: int, end: int) -> bool:
        """Whether nothing in [start, end) can be read."""
        return not has_visible(self.words(start, end))


def encodable(text: str) -> str:
    """The text with lone surrogates (file names may hold them) replaced: tokenizers take UTF-8 only."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
