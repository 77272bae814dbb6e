"""Note text and model text are hostile: a control character is shown, never obeyed.

Newline and tab stay; CRLF and CR become a newline, as an editor shows them. Everything else that moves a
cursor, retitles a terminal or reverses the reading order is written out (`\\x1b`, `\\u202e`). Joiners and the
marks of ordinary right-to-left text stay, and so does every other character.
"""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n?")
# C0 without tab and newline, DEL and C1, bidi embeddings, overrides and isolates, lone surrogates (bytes of a
# file name that decode to nothing, which no terminal can print)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def escape_control(text: str) -> str:
    """The text as it may be shown: several lines, no control characters."""
    return _CONTROL.sub(_written_out, _LINE_END.sub("\n", text))


def escape_line(text: str) -> str:
    """The text as it may be shown on one line: line ends and tabs are written out too."""
    one_line = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return _CONTROL.sub(_written_out, one_line).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


class StreamEscaper:
    """`escape_control` over a text that comes in pieces: any split gives the same result."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """What can be shown now; a CR at the end waits for what follows it."""
        text = self._held + piece
        self._held = "\r" if text.endswith("\r") else ""
        return escape_control(text.removesuffix("\r"))

    def finish(self) -> str:
        """What was still held."""
        held, self._held = self._held, ""
        return escape_control(held)
