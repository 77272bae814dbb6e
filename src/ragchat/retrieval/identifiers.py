"""Tell a name or an identifier in a question from an ordinary word, by its looks alone.

`E1234`, `20.04`, `error 1045`, `node.js`, `C++`, `ECONNREFUSED` and a surname are identifiers: who types one
wants the note that holds it. "prime", "sky" and "well-known" are not, however rare they are in a folder.
Where the looks leave a doubt the word is left out: an offer that is beside the point costs more than none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Case = Literal["any", "capitals", "name"]


@dataclass(frozen=True, slots=True)
class Term:
    """text: as the question writes it.

    case: how it has to stand in a note: "any" way; in "capitals" as in the question; or as a "name", that is
        never in lower case, and at least once capitalised where no sentence begins.
    """

    text: str
    case: Case


_HAN = "\u3005\u4e00-\u9fff\uf900-\ufaff"
_KATAKANA = "\u30a1-\u30fa\u30fc"
_SPACELESS = re.compile(f"[{_HAN}\u3040-\u30ff\u0e00-\u0e7f\uac00-\ud7a3]+")

_EDGES = " \t\r\n.,;:!?¡¿'\"`´‘’“”„«»‹›()[]{}<>*…·|–—"
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
# 500g, 20th, 5pm, 15%: a quantity, no identifier.
_QUANTITY = re.compile(r"[\d.,:/]*\d[^\W\d_]{0,3}%?")
_VERSION = re.compile(r"#?\d+(?:[.\-]\d+)+")
_LONG_NUMBER = re.compile(r"#?\d{5,}|#\d+|0\d{2,}")
_LETTER_AND_DIGIT = re.compile(r"(?=.*\d)(?=.*[^\W\d_])[\w.\-/:#]+")
_FILE_NAME = re.compile(r"\w{2,}(?:\.\w{2,})+")
_TECHNICAL = re.compile(r"\w+(?:\+\+|#)|\w*[^\W_]_+[^\W_]\w*|\w+(?:::|@|\\)\w[\w.:@\\\-]*|.*[a-z][A-Z].*")
# "error 1045": a number too plain to stand alone is known by the word before it. Years are too common.
_NUMBERED = re.compile(r"([^\W\d_]{4,})[ \t]+(?!(?:1\d|20)\d\d\b)(\d{3,})(?![\w.,:/%]\d|\w|%)")

# 山田さん, アダ・ラブレス, 国民健康保険, 김민수씨. Occupations before さん are no names.
_CJK_NAMES = re.compile(
    f"[{_HAN}{_KATAKANA}]{{2,8}}(?<![者師員屋手客])(?=さん|様|氏|先生|くん|ちゃん|女士)"
    f"|[{_KATAKANA}]{{2,}}(?:・[{_KATAKANA}]{{2,}})+"
    f"|[{_HAN}]{{4,}}"
    "|[\uac00-\ud7a3]{2,4}(?=\\s?(?:씨|님))"
)

_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "herr", "frau", "mme", "señor", "señora"})
_WHO = re.compile(r"^\W*who(?:\s+(?:is|was|are|were)|['’]s|\s+the\s+hell\s+is)\s+\W*$", re.IGNORECASE)
_GERMAN_WHO = re.compile(r"^\W*(?:wer|wen|wem|wessen)\b", re.IGNORECASE)
# Words that show a question to be German, where every noun has a capital.
_GERMAN = frozenset(
    """
    ist sind und wie wer wen wem warum wann welche welcher welches ich wir nicht eine einen einem einer
    kann darf muss hat wird gibt mein meine für über kostet schreib
    """.split()  # noqa: SIM905 - a list of sixty quoted words is no easier to read
)
_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december english internet
    """.split()  # noqa: SIM905 - a list of sixty quoted words is no easier to read
)


def terms_of(question: str, count_tokens: Callable[[str], int]) -> tuple[Term, ...]:
    """The names and identifiers of a question, once each, in its order within each kind.

    count_tokens: the encoder's; a lower-case word that it has no single piece for may be a name.
    """
    text = unicodedata.normalize("NFKC", question)
    spaced = _SPACELESS.sub(" ", text)
    terms = [Term(" ".join(match.groups()), "any") for match in _NUMBERED.finditer(spaced)]
    words = [_POSSESSIVE.sub("", word.strip(_EDGES)).strip(_EDGES) for word in spaced.split()]
    terms += [Term(word, "any") for word in words if word and _is_code(word)]
    terms += _cased(spaced, count_tokens)
    terms += [Term(match.group(), "any") for match in _CJK_NAMES.finditer(text)]
    return tuple({term.text.casefold(): term for term in reversed(terms)}.values())[::-1]


def _is_code(word: str) -> bool:
    if _VERSION.fullmatch(word):
        # 3.5 is a number like any other; 3.11, 20.04 and 1.2.3 are versions.
        return sum(letter.isdigit() for letter in word) >= 3
    if _LONG_NUMBER.fullmatch(word):
        return True
    if _QUANTITY.fullmatch(word):
        return False
    return any(shape.fullmatch(word) for shape in (_LETTER_AND_DIGIT, _FILE_NAME, _TECHNICAL))


def _cased(question: str, count_tokens: Callable[[str], int]) -> Iterator[Term]:
    """Acronyms and names, as far as the question's own use of capitals tells anything."""
    letters = [letter for letter in question if letter.isalpha()]
    all_lower = all(letter.islower() for letter in letters)
    words = list(re.finditer(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*", question))
    told = not all_lower and not _shouted_or_titled([match.group() for match in words])
    german = any(match.group().casefold() in _GERMAN for match in words)
    for match in words:
        word = _POSSESSIVE.sub("", match.group())
        before = question[: match.start()]
        if len(word) < 3 or word.casefold() in _CALENDAR:
            continue
        if told and word.isupper():
            yield Term(word, "capitals")
        elif told and word[0].isupper() and not begins_sentence(before):
            if not german or _german_name(before, words, match):
                yield Term(word, "name")
        elif _named_by_context(before) or (
            (all_lower or not before.strip(_EDGES)) and len(word) >= 4 and _unknown(word, count_tokens)
        ):
            yield Term(word, "name")


def _shouted_or_titled(words: Sequence[str]) -> bool:
    """WHY IS THE SKY BLUE, Why Is The Sky Blue: capitals that say nothing about a word."""
    capitals = sum(word[0].isupper() for word in words)
    return all(word.isupper() for word in words) or (len(words) > 3 and capitals > 0.7 * len(words))


def begins_sentence(before: str) -> bool:
    """Whether a word after this text has its capital from a sentence, line or list item that begins there."""
    kept = before.rstrip(" \t'\"“„«([*_#>-¿¡")
    return not kept or kept[-1] in ".!?:\n\r"


def _named_by_context(before: str) -> bool:
    """After "who is" or a title."""
    previous = before.rstrip().rsplit(maxsplit=1)[-1:] or [""]
    return bool(_WHO.match(before)) or previous[0].strip(_EDGES).casefold() in _TITLES


def _german_name(before: str, words: Sequence[re.Match[str]], match: re.Match[str]) -> bool:
    """Every German noun has a capital: a name takes a title, a `wer`, or a second capital beside it."""
    if _named_by_context(before) or _GERMAN_WHO.match(before):
        return True
    place = words.index(match)
    beside = [words[i].group() for i in (place - 1, place + 1) if 0 < i < len(words)]
    return any(word[0].isupper() for word in beside)


def _unknown(word: str, count_tokens: Callable[[str], int]) -> bool:
    return count_tokens(word.casefold()) > count_tokens("a")


def written_without_spaces(text: str) -> bool:
    """Whether its words have no edges that a search could ask for (Japanese, Chinese, Thai, Hangul)."""
    return bool(_SPACELESS.match(text))
