"""Bytes become text, exactly: newlines as they stand, a byte order mark dropped, nothing replaced."""

from __future__ import annotations

from dataclasses import dataclass

from charset_normalizer import from_bytes


@dataclass(frozen=True, slots=True)
class Decoded:
    """encoding: the codec in Python's spelling; `data.decode(encoding)` gives the text, BOM apart."""

    text: str
    encoding: str


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Why the bytes are no text, and what the user can do."""

    reason: str
    hint: str


_HINT = "save it as UTF-8 text, or list it in .ragchatignore"
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def decode(data: bytes) -> Decoded | Undecodable:
    """The text of a file and the encoding it is in, or why it is no text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    best = from_bytes(data).best()
    if best is None:
        return Undecodable("no text encoding fits these bytes", _HINT)
    return _strict(data, best.encoding)


def _strict(data: bytes, encoding: str) -> Decoded | Undecodable:
    try:
        return Decoded(data.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        return Undecodable(f"marked as {encoding}, but byte {error.start} does not fit", _HINT)
