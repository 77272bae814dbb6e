"""Bytes become text, exactly: newlines as they stand, a byte order mark dropped, nothing replaced.

A byte order mark decides; then escape sequences of ISO-2022, the zeros of UTF-16 and UTF-32, valid UTF-8.
Only what is left is guessed at (`guessing.py`); what no reading makes plausible is no text.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from ragchat.documents.guessing import SAMPLE, decoded, most_plausible
from ragchat.documents.plausibility import implausibility


@dataclass(frozen=True, slots=True)
class Decoded:
    """encoding: the codec in Python's spelling; `data.decode(encoding)` gives the text, the mark apart."""

    text: str
    encoding: str


@dataclass(frozen=True, slots=True)
class Undecodable:
    """Why the bytes are no text, and what the user can do."""

    reason: str
    hint: str


_SAVE = "open it in an editor and save it as UTF-8"
_IGNORE = "list it in .ragchatignore, or convert it to text"
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a zip archive or an office document"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"\xd0\xcf\x11\xe0", "an old office document"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"{\\rtf", "an RTF document"),
    (b"bplist0", "a binary property list"),
    (b"OggS", "an Ogg recording"),
    (b"ID3", "an MP3 recording"),
)
# Measured: texts people wrote stay well under it in the right byte order, in bits a character.
_MOST_BITS_WIDE = 8.0
_ISO_2022 = re.compile(rb"\x1b\$(?:[@B]|\([@BD]|\)C)")
_CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\x0b\x0c\r\x08\x1b") + b"\x7f"


def decode(data: bytes, *, declared: str = "") -> Decoded | Undecodable:
    """The text of a file and the encoding it is in, or why it is no text.

    declared: the encoding the file itself names, as HTML does; believed where it is plausible.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _as_marked(data, len(mark), encoding)
    for magic, what in _MAGIC:
        if data.startswith(magic):
            return Undecodable(f"it is {what}, not text", _IGNORE)
    if decoded := _iso_2022(data) or _wide(data):
        return decoded
    if _share_of_controls(data) > 0.1:
        return Undecodable("it is binary data, not text", _IGNORE)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        if _is_nearly_utf8(data):
            line = len(re.findall(rb"\r\n|\r|\n", data[: error.start])) + 1
            return Undecodable(
                f"it is UTF-8, but for the byte 0x{data[error.start]:02x} on line {line}", _SAVE
            )
    if decoded := _ebcdic(data):
        return decoded
    if _share_of_controls(data) > 0.02:
        return Undecodable("it is binary data, not text", _IGNORE)
    if encoding := most_plausible(data, declared):
        return Decoded(data.decode(encoding), encoding)
    return Undecodable("its bytes make no plausible text in any known encoding", _SAVE)


def _as_marked(data: bytes, start: int, encoding: str) -> Decoded | Undecodable:
    try:
        return Decoded(data[start:].decode(encoding), encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-le").removesuffix("-be").upper()
        return Undecodable(
            f"its first bytes mark it as {name}, but byte {start + error.start} does not fit", _SAVE
        )


def _iso_2022(data: bytes) -> Decoded | None:
    """ISO-2022-JP and its kin: seven bits, and an escape sequence that opens a table of double bytes."""
    if not _ISO_2022.search(data) or not data.isascii():
        return None
    for encoding in ("iso2022_jp", "iso2022_jp_ext", "iso2022_jp_3", "iso2022_kr"):
        text = decoded(data, encoding)
        if text is not None and "\x1b" not in text:
            return Decoded(text, encoding)
    return None


def _wide(data: bytes) -> Decoded | None:
    """UTF-16 or UTF-32 without a mark, told by where its zeros are and by what it reads as."""
    controls = len(data) - len(data.translate(None, _CONTROLS))
    for width, encodings in ((4, ("utf-32-le", "utf-32-be")), (2, ("utf-16-le", "utf-16-be"))):
        if len(data) % width or len(data) < 2 * width:
            continue
        # Every character of UTF-32 has a zero byte, most have two. UTF-16 shows by zeros and other controls,
        # as Latin and Cyrillic have, or by being no UTF-8; a zero astray in an ordinary note shows nothing.
        if width == 4 and data.count(0) < len(data) / 4:
            continue
        if width == 2 and controls < len(data) / 5 and (not controls or decoded(data, "utf-8") is not None):
            continue
        sample = data[: SAMPLE // width * width]
        readings = [(_bits_per_character(sample, encoding), encoding) for encoding in encodings]
        bits, encoding = min(readings)
        text = decoded(data, encoding)
        if text is not None and bits <= _MOST_BITS_WIDE:
            return Decoded(text, encoding)
    return None


def _bits_per_character(sample: bytes, encoding: str) -> float:
    """Mean cost of the characters of a wide reading; a zero or a control is as bad as no text."""
    # The sample may end between the two halves of a pair.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    controls = sum(text.count(chr(code)) for code in _CONTROLS)
    visible = len("".join(text.split()))
    return (implausibility(text) + 20.0 * controls) / max(1, visible)


def _share_of_controls(data: bytes) -> float:
    """Share of control characters that no text has; eight of them are forgiven, as a pasted screen has."""
    return max(0, len(data) - len(data.translate(None, _CONTROLS)) - 8) / max(1, len(data))


def _is_nearly_utf8(data: bytes) -> bool:
    text = data.decode("utf-8", "surrogateescape")
    strays = sum("\udc80" <= character <= "\udcff" for character in text if character > "\x7f")
    return sum(character > "\x7f" for character in text) - strays >= 4 * strays


def _ebcdic(data: bytes) -> Decoded | None:
    """EBCDIC has its blank at 0x40 and its letters among the high bytes; nothing else looks like it."""
    letters = sum(map(data.count, b"etaoin"))
    if len(data) < 20 or data.count(0x40) < 0.08 * len(data) or letters > 0.05 * len(data):
        return None
    readings = []
    for encoding in ("cp500", "cp037"):
        text = data.decode(encoding)
        plain = sum(
            character.isascii() and (character.isalnum() or character in " \n.,") for character in text
        )
        readings.append((plain, -implausibility(text[:SAMPLE]), Decoded(text, encoding)))
    plain, _, best = max(readings, key=lambda reading: reading[:2])
    return best if plain >= 0.85 * len(best.text) else None
