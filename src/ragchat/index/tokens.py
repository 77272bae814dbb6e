"""Words as BM25 counts them, the same for passages and for questions.

A run of words joined by single connectors stays whole and is also split: `X17-AB` gives `x17-ab`, `x17`,
`ab`; `src/app.py` gives `src/app.py`, `src`, `app.py`, `app`, `py`. Case and compatibility forms are folded
(NFKC and casefold, so NFC and NFD agree). Scripts that write without spaces, and Hangul with its particles,
give bigrams of characters, or the character where one stands alone: a combining mark belongs to its base.
Digits of every script are folded to 0-9. Where people leave marks out as they like (Greek accents, Arabic and
Hebrew vowels, the dots of ё) a word is given with them and without.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator

LONGEST_TOKEN = 128
"""Characters; anything longer is a data blob that nobody types into a question."""

# Han with 々〆〇, kana with ー, Hangul syllables, Thai, Lao, Tibetan, Myanmar, Khmer; Han beyond the BMP.
_SPACELESS = (
    "\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\uac00-\ud7a3\u0e00-\u0e7f\u0e80-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
_EMOJI = "\u2600-\u27bf\U0001f300-\U0001faff"
_WITHOUT_MARKS = ((0x3400, 0xA000), (0xAC00, 0xD7A4), (0xD800, 0xF900))
"""Most of the BMP, and slow to look through: Han and Hangul, surrogates and what is left for private use.
They have no combining mark, and no letter of a script that puts spaces between words."""
_PATH_CONNECTORS = r"/\\@:=&#~"
_WORD_CONNECTORS = r"\-._'+"

_FOLDED_APART = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-", "\u2212": "-", "\u200b": " "}
    # Invisible inside a word: soft hyphen, joiners, byte order mark, variation selectors.
    # Digits, by the zero of each script.
    | {
        chr(ord(zero) + digit): str(digit)
        for zero in "٠۰߀०০੦૦୦௦౦೦൦෦๐໐༠၀႐០᠐᥆᧐᪀᪐᭐᮰᱀᱐꘠꣐꤀꧐꧰꩐꯰"
        for digit in range(10)
    }
    | dict.fromkeys(["\u00ad", "\u200c", "\u200d", "\u2060", "\ufeff", *map(chr, range(0xFE00, 0xFE10))], "")
)
_LEFT_OUT = str.maketrans(
    dict(zip("άέήίόύώϊϋΐΰ", "αεηιουωιυιυ", strict=True))
    | {"ё": "е", "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ـ": ""}
    | dict.fromkeys(map(chr, (*range(0x0591, 0x05C8), *range(0x064B, 0x0660), 0x0670)), "")
)
"""For casefolded words. й is a letter of its own and stays, as do the accents of Latin letters."""
_PATH_SPLIT = re.compile(f"[{_PATH_CONNECTORS}]")
_WORD_SPLIT = re.compile(r"[-._'+,]")


def tokenize(text: str) -> list[str]:
    """Tokens in the order of the text, repeated as often as they stand there; `"` alone gives none."""
    if text.isascii():
        runs = _ascii_pattern().findall(text.lower())
    else:
        compatible = unicodedata.normalize("NFKC", text).translate(_FOLDED_APART)
        runs = _unicode_pattern().findall(unicodedata.normalize("NFKC", compatible.casefold()))
    tokens: list[str] = []
    for run in runs:
        if run.isascii():
            if run.isalnum():
                tokens.append(run)
            else:
                tokens += _levels(run)
        elif _spaceless_pattern().match(run):
            tokens += _bigrams(run)
        else:
            tokens += _levels(run)
            if (bare := run.translate(_LEFT_OUT)) != run:
                tokens += _levels(bare)
    return [token for token in tokens if len(token) <= LONGEST_TOKEN]


def _levels(run: str) -> Iterator[str]:
    """The run whole, its path-like parts, and their words; what would be the same token comes once."""
    yield run
    parts = _PATH_SPLIT.split(run)
    for part in parts:
        if not part:
            continue
        if len(parts) > 1:
            yield part
        words = [word for word in _WORD_SPLIT.split(part) if word]
        if words != [part]:
            yield from words


def _bigrams(run: str) -> list[str]:
    units = _unit_pattern().findall(run)
    return [first + second for first, second in itertools.pairwise(units)] or units


def _pattern(word: str, others: str) -> re.Pattern[str]:
    connector = f"(?:[{_PATH_CONNECTORS}{_WORD_CONNECTORS}]|(?<=[0-9]),(?=[0-9]))"
    # `c++`, `c#`: the sign belongs to the word when no further word follows it.
    return re.compile(f"{word}+(?:{connector}{word}+)*(?:\\+{{1,2}}|#)?{others}")


@functools.cache
def _ascii_pattern() -> re.Pattern[str]:
    return _pattern("[a-z0-9]", "")


@functools.cache
def _unicode_pattern() -> re.Pattern[str]:
    others = f"|[{_SPACELESS}][{_SPACELESS}{_marks()}]*|[{_EMOJI}]"
    return _pattern(f"[{_word_characters()}]", others)


@functools.cache
def _spaceless_pattern() -> re.Pattern[str]:
    return re.compile(f"[{_SPACELESS}]")


@functools.cache
def _unit_pattern() -> re.Pattern[str]:
    return re.compile(f".[{_marks()}]*", re.DOTALL)


@functools.cache
def _marks() -> str:
    """Every combining mark, as the inside of a character class: Python's `\\w` leaves them out."""
    return _ranges(point for point in _points(0x300) if unicodedata.category(chr(point))[0] == "M")


@functools.cache
def _word_characters() -> str:
    """Letters, digits and marks of scripts that put spaces between words, as the inside of a character class.

    Above the BMP everything up to the symbols counts: one range there costs nothing, hundreds make it slow.
    """
    spaceless = re.compile(f"[{_SPACELESS}]")
    points = (
        point
        for point in _points(0)
        if (chr(point).isalnum() or unicodedata.category(chr(point))[0] == "M")
        and not spaceless.match(chr(point))
    )
    return _ranges(points) + "\U00010000-\U0001efff"


def _points(first: int) -> Iterator[int]:
    """Code points of the BMP from here on that may be marks, or letters between spaces."""
    starts = (first, *(stop for _, stop in _WITHOUT_MARKS))
    stops = (*(start for start, _ in _WITHOUT_MARKS), 0xFFFF)
    return itertools.chain.from_iterable(map(range, starts, stops))


def _ranges(points: Iterable[int]) -> str:
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in ranges)
