"""Bytes become text, exactly: newlines as they stand, a byte order mark dropped, nothing replaced.

A byte order mark decides; then escape sequences of ISO-2022, the zeros of UTF-16 and UTF-32, valid UTF-8.
Only what is left is guessed at: charset-normalizer and a list of usual encodings propose, and the reading
that is most plausible as text wins (charset-normalizer alone takes a short note in cp1252 for cp1250, and
Mac Roman for cp1250 as well). What no reading makes plausible is no text.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

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
# How unusual each encoding is, in bits that its reading has to make up for.
_USUAL = {
    "cp1252": 0.0,
    "cp932": 1.0,
    "euc_jp": 2.0,
    "cp1251": 1.0,
    "gb18030": 2.0,
    "big5": 2.0,
    "cp949": 2.0,
    "cp1250": 2.0,
    "cp1253": 2.0,
    "cp1254": 2.0,
    "cp1255": 2.0,
    "cp1256": 2.0,
    "cp1257": 2.5,
    "cp874": 2.0,
    "koi8_r": 2.0,
    "koi8_u": 2.5,
    "latin_1": 3.0,
    "iso8859_2": 3.0,
    "iso8859_15": 3.0,
    "iso8859_5": 3.0,
    "iso8859_6": 3.0,
    "iso8859_7": 3.0,
    "iso8859_8": 3.0,
    "cp866": 3.0,
    "mac_cyrillic": 3.0,
    "mac_roman": 6.0,
    "cp850": 6.0,
    "cp852": 7.0,
    "cp437": 7.0,
}
_UNUSUAL = 8.0
_DECLARED = -8.0
# What people declare, and the wider encoding that they mean by it (as the WHATWG encoding standard has it).
_WIDER = {
    "shift_jis": "cp932",
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
}
_SAMPLE = 12_000
# Measured: texts people wrote cost 2 to 5.6 bits for each byte outside ASCII in their own encoding, random
# bytes 7 or more in the best of all. A short text may be odd.
_MOST_BITS, _SPARE_BITS = 6.5, 20.0
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
    return _most_plausible(data, declared)


def _as_marked(data: bytes, start: int, encoding: str) -> Decoded | Undecodable:
    try:
        return Decoded(data[start:].decode(encoding), encoding)
    except UnicodeDecodeError as error:
        name = encoding.removesuffix("-le").removesuffix("-be").upper()
        return Undecodable(
            f"its first bytes mark it as {name}, but byte {start + error.start} does not fit", _SAVE
        )


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _iso_2022(data: bytes) -> Decoded | None:
    """ISO-2022-JP and its kin: seven bits, and an escape sequence that opens a table of double bytes."""
    if not _ISO_2022.search(data) or not data.isascii():
        return None
    for encoding in ("iso2022_jp", "iso2022_jp_ext", "iso2022_jp_3", "iso2022_kr"):
        text = _try(data, encoding)
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
        if width == 2 and controls < len(data) / 5 and (not controls or _try(data, "utf-8") is not None):
            continue
        sample = data[: _SAMPLE // width * width]
        readings = [(_bits_per_character(sample, encoding), encoding) for encoding in encodings]
        bits, encoding = min(readings)
        text = _try(data, encoding)
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
        readings.append((plain, -implausibility(text[:_SAMPLE]), Decoded(text, encoding)))
    plain, _, best = max(readings, key=lambda reading: reading[:2])
    return best if plain >= 0.85 * len(best.text) else None


def _most_plausible(data: bytes, declared: str) -> Decoded | Undecodable:
    sample = _sample(data)
    high = sum(byte > 0x7F for byte in sample)
    readings: list[tuple[float, float, str]] = []
    for encoding, penalty in _candidates(data, sample, declared).items():
        text = _try(sample, encoding)
        if text is not None:
            cost = implausibility(text)
            readings.append((cost + penalty, cost, encoding))
    for _, cost, encoding in sorted(readings):
        if cost > _MOST_BITS * high + _SPARE_BITS:
            continue
        text = _try(data, encoding)
        if text is not None:
            return Decoded(text, encoding)
    return Undecodable("its bytes make no plausible text in any known encoding", _SAVE)


def _candidates(data: bytes, sample: bytes, declared: str) -> dict[str, float]:
    """Encodings to try, each with the bits that speak against it beforehand."""
    # Loaded only here: most notes are UTF-8 and never need it.
    from charset_normalizer import from_bytes

    penalties = dict(_USUAL)
    best = from_bytes(sample, steps=5, chunk_size=512).best()
    for encoding in best.could_be_from_charset if best else ():
        if not encoding.startswith("utf"):
            penalties.setdefault(encoding, _UNUSUAL)
    if b"\r" in data and b"\n" not in data:
        penalties["mac_roman"] = penalties["mac_cyrillic"] = 0.0
    if named := _encoding_named(declared):
        penalties[named] = _DECLARED
    return penalties


def _encoding_named(declared: str) -> str:
    """The encoding a file names, as spelled in `_USUAL` where it is there; "" for none that decodes text."""
    from charset_normalizer.constant import IANA_SUPPORTED

    try:
        name = codecs.lookup(declared).name
        meant = codecs.lookup(_WIDER.get(name, name)).name
    except (LookupError, ValueError):
        return ""
    # Python has codecs that are no character sets, "unicode_escape" and the like.
    names = (spelled for spelled in (*_USUAL, *IANA_SUPPORTED) if not spelled.startswith("utf"))
    return next((spelled for spelled in names if codecs.lookup(spelled).name == meant), "")


def _sample(data: bytes) -> bytes:
    """Whole lines with bytes outside ASCII from all over the file, about `_SAMPLE` bytes of them."""
    if len(data) <= _SAMPLE:
        return data
    lines = [line for line in re.split(rb"(?<=[\r\n])", data) if not line.isascii()]
    step = max(1, sum(map(len, lines)) // _SAMPLE)
    taken: list[bytes] = []
    size = 0
    for line in lines[::step]:
        taken.append(line if len(line) <= _SAMPLE else _whole_characters(line))
        size += len(taken[-1])
        if size >= _SAMPLE:
            break
    return b"".join(taken)


def _whole_characters(line: bytes) -> bytes:
    """The beginning of a giant line, cut behind a blank, which is no half of a character anywhere."""
    start = max(0, next((at for at, byte in enumerate(line) if byte > 0x7F), 0) - 100)
    start = max(0, line.rfind(b" ", 0, start))
    cut = line.rfind(b" ", start, start + _SAMPLE)
    return line[start : cut + 1] if cut > start else line[start : start + _SAMPLE]
