"""Lines as an editor counts them: CRLF, CR and LF each end one, and nothing else does.

`str.splitlines` also breaks at form feeds and at U+2028, where neither Markdown nor an editor does.
"""

from __future__ import annotations

import re
from bisect import bisect_right

_BREAK = re.compile(r"\r\n|\r|\n")


class Lines:
    """Where the lines of a text begin and end, in code points; line numbers here are 0-based."""

    def __init__(self, text: str, start: int = 0) -> None:
        """The lines of `text[start:]`, with offsets into `text`."""
        self._starts = [start]
        self._ends: list[int] = []
        for match in _BREAK.finditer(text, start):
            self._ends.append(match.start())
            self._starts.append(match.end())
        self._ends.append(len(text))
        self._length = len(text)

    def __len__(self) -> int:
        return len(self._starts)

    def start(self, line: int) -> int:
        """Where the line begins; the end of the text for any line behind the last."""
        return self._starts[line] if line < len(self._starts) else self._length

    def end(self, line: int) -> int:
        """Where the line's own characters end, before its line break."""
        return self._ends[line] if line < len(self._ends) else self._length

    def at(self, offset: int) -> int:
        """The line that holds an offset."""
        return bisect_right(self._starts, offset) - 1
