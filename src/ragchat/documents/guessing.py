"""Guess an encoding that gives no sign of itself: the reading that is most plausible as text wins.

charset-normalizer and a list of usual encodings propose (charset-normalizer alone takes a short note in
cp1252 for cp1250, and Mac Roman for cp1250 as well).
"""

from __future__ import annotations

import codecs
import re

from ragchat.documents.plausibility import implausibility

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
SAMPLE = 12_000
"""Bytes looked at: more decide nothing and take longer."""
# Measured: texts people wrote cost 2 to 5.6 bits for each byte outside ASCII in their own encoding, random
# bytes 7 or more in the best of all. A short text may be odd.
_MOST_BITS, _SPARE_BITS = 6.5, 20.0


def most_plausible(data: bytes, declared: str) -> str:
    """The encoding whose reading of the bytes is the most plausible text; "" where none is plausible.

    declared: what the file itself names; believed where it is plausible.
    """
    sample = _sample(data)
    high = sum(byte > 0x7F for byte in sample)
    readings: list[tuple[float, float, str]] = []
    for encoding, penalty in _candidates(data, sample, declared).items():
        text = decoded(sample, encoding)
        if text is not None:
            cost = implausibility(text)
            readings.append((cost + penalty, cost, encoding))
    for _, cost, encoding in sorted(readings):
        if cost > _MOST_BITS * high + _SPARE_BITS:
            continue
        if decoded(data, encoding) is not None:
            return encoding
    return ""


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
    """Whole lines with bytes outside ASCII from all over the file, about `SAMPLE` bytes of them."""
    if len(data) <= SAMPLE:
        return data
    lines = [line for line in re.split(rb"(?<=[\r\n])", data) if not line.isascii()]
    step = max(1, sum(map(len, lines)) // SAMPLE)
    taken: list[bytes] = []
    size = 0
    for line in lines[::step]:
        taken.append(line if len(line) <= SAMPLE else _whole_characters(line))
        size += len(taken[-1])
        if size >= SAMPLE:
            break
    return b"".join(taken)


def _whole_characters(line: bytes) -> bytes:
    """The beginning of a giant line, cut behind a blank, which is no half of a character anywhere."""
    start = max(0, next((at for at, byte in enumerate(line) if byte > 0x7F), 0) - 100)
    start = max(0, line.rfind(b" ", 0, start))
    cut = line.rfind(b" ", start, start + SAMPLE)
    return line[start : cut + 1] if cut > start else line[start : start + SAMPLE]


def decoded(data: bytes, encoding: str) -> str | None:
    """The bytes read in this encoding, None where they do not fit it or there is none of this name."""
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None
