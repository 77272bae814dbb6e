"""The line `[Title > Heading > Subheading]` that is embedded before a passage."""

from __future__ import annotations

from ragchat.chunking.chunk import TokenCounter
from ragchat.chunking.speech import encodable

_LONGEST_PART = 160
"""Characters of a title or heading; what is longer is a paragraph in disguise."""


class Headers:
    """Headers of one document, each within `limit` tokens of the encoder."""

    def __init__(self, title: str, counter: TokenCounter, limit: int) -> None:
        self._title = _one_line(title)
        self._counter = counter
        self._limit = limit
        self._special_tokens = counter.count_tokens("")
        self._made: dict[tuple[str, ...], tuple[str, int]] = {}

    def header(self, path: tuple[str, ...]) -> tuple[str, int]:
        """The header line with its line break and its tokens, or ("", 0) where there is nothing to say.

        Over the limit, the headings in the middle go first, then the title is shortened, then the heading.
        """
        if path not in self._made:
            self._made[path] = self._make(path)
        return self._made[path]

    def _make(self, path: tuple[str, ...]) -> tuple[str, int]:
        headings = [part for part in map(_one_line, path) if part]
        repeated = bool(headings) and headings[0].casefold() == self._title.casefold()
        parts = headings if repeated or not self._title else [self._title, *headings]
        while parts:
            line = f"[{' > '.join(parts)}]\n"
            tokens = self._counter.count_tokens(line) - self._special_tokens
            if tokens <= self._limit:
                return line, tokens
            parts = _shorter(parts)
        return "", 0


def _shorter(parts: list[str]) -> list[str]:
    if len(parts) > 2:
        return [parts[0], *parts[2:]]
    half = len(parts[0]) // 2
    if half >= 8:
        return [parts[0][:half].rstrip("… ") + "…", *parts[1:]]
    return parts[1:]


def _one_line(text: str) -> str:
    line = " ".join(encodable(text).split())
    return line if len(line) <= _LONGEST_PART else line[: _LONGEST_PART - 1].rstrip() + "…"
