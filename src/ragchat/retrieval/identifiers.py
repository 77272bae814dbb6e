"""Tell a name or an identifier in a question from an ordinary word, by its looks alone.

`E1234`, `20.04`, `error 1045`, `node.js`, `C++`, `ECONNREFUSED` and a surname are identifiers: who types one
wants the note that holds it. "prime", "sky" and "well-known" are not, however rare they are in a folder.
Where the looks leave a doubt the word is left out: an offer that is beside the point costs more than none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

Case = Literal["any", "capitals", "name", "perhaps a name"]


@dataclass(frozen=True, slots=True)
class Term:
    """text: as the question writes it.

    case: how it has to stand in the notes. "any": somehow. "capitals": as in the question. "name": never in
        lower case. "perhaps a name", where the question's own capitals tell nothing: besides, at least once
        capitalised where no sentence or line begins.
    """

    text: str
    case: Case


_HAN = "\u3005\u4e00-\u9fff\uf900-\ufaff"
_KATAKANA = "\u30a1-\u30fa\u30fc"
_UNSPACED = f"{_HAN}\u3040-\u30ff\u0e00-\u0e7f\uac00-\ud7a3"
_SPACELESS = re.compile(f"[{_UNSPACED}]+")

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
_NUMBERED = re.compile(r"([^\W\d_]{4,})[ \t]+(?!(?:1[5-9]|20)\d\d\b)(\d{3,})(?![\w.,:/%]\d|\w|%)")

# 山田さん, アダ・ラブレス, 国民健康保険, 김민수씨. Occupations before さん are no names.
_CJK_NAMES = (
    f"[{_HAN}{_KATAKANA}]{{2,8}}(?<![者師員屋手客])(?=さん|様|氏|先生|くん|ちゃん|女士)"
    f"|[{_KATAKANA}]{{2,}}(?:・[{_KATAKANA}]{{2,}})+"
    f"|[{_HAN}]{{4,}}"
    "|[\uac00-\ud7a3]{2,4}(?=\\s?(?:씨|님))"
)

_MOST_KEYWORDS = 3
_LONGEST_UNSPACED = 8
"""Characters of a keyword in a script without spaces; what is longer is a sentence."""
_SMALL_TALK = frozenset(
    """
    hello hi hey hallo hej ciao hola salut bonjour goodbye bye thanks thank please danke bitte merci gracias
    grazie yes no ok okay ja nein oui test help good morning evening
    こんにちは ありがとう はい 你好 谢谢 안녕하세요
    """.split()  # noqa: SIM905 - a list of sixty quoted words is no easier to read
)

_READ = 2000
"""Characters of a question that are looked at: who pastes more is not asking for one name."""
_WORD = re.compile(r"[^\W\d_]{3,}(?:['’\-][^\W\d_]+)*")
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "herr", "frau", "mme", "señor", "señora"})
_WHO = re.compile(r"\W*who(?:\s+(?:is|was|are|were)|['’]s)\s+\W*", re.IGNORECASE)
_GERMAN_WHO = re.compile(r"\W*(?:wer|wen|wem|wessen)\b", re.IGNORECASE)
# Words that show a question to be German, where every noun has a capital.
_GERMAN = frozenset(
    """
    ist sind und wie wer wen wem warum wann welche welcher welches ich wir nicht eine einen einem einer
    kann darf muss wird gibt mein meine für über kostet schreib
    """.split()  # noqa: SIM905 - a list of sixty quoted words is no easier to read
)
_CALENDAR = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december english internet
    """.split()  # noqa: SIM905 - a list of sixty quoted words is no easier to read
)

_STRESSED = frozenset(
    {"NOT", "ALL", "AND", "ANY", "NEVER", "ALWAYS", "ONLY", "MUST", "NOW", "STOP", "PLEASE", "THE"}
)


def terms_of(question: str, count_tokens: Callable[[str], int]) -> tuple[Term, ...]:
    """The names and identifiers of a question, once each, in its order within each kind.

    count_tokens: the encoder's; a lower-case word that it has no single piece for may be a name.
    """
    text = unicodedata.normalize("NFKC", question[:_READ])
    spaced = _SPACELESS.sub(" ", text)
    terms = [Term(" ".join(match.groups()), "any") for match in _NUMBERED.finditer(spaced)]
    words = [_POSSESSIVE.sub("", word.strip(_EDGES)).strip(_EDGES) for word in spaced.split()]
    terms += [Term(word, "any") for word in words if word and _is_code(word)]
    terms += _cased(spaced, count_tokens)
    if spaced != text:  # compiled for whoever writes so: it takes as long as the rest of the question
        terms += [Term(match.group(), "any") for match in re.finditer(_CJK_NAMES, text)]
    wanted = [term for term in terms if term.text.casefold() not in _CALENDAR]
    return tuple({term.text.casefold(): term for term in reversed(wanted)}.values())[::-1]


def keywords_of(question: str, asking: AbstractSet[str]) -> tuple[Term, ...]:
    """The words of a query that is nothing but keywords, once each; nothing of a question or small talk.

    asking: words, case folded, that make a question of what they stand in ("how", "the", "is").
    """
    text = unicodedata.normalize("NFKC", question[:_READ])
    words = dict.fromkeys(filter(None, (word.strip(_EDGES) for word in text.split())))
    if len(words) > _MOST_KEYWORDS or len(question) > _READ or text.rstrip().endswith("?"):
        return ()
    folded = {word.casefold().replace("’", "'") for word in words}
    if folded & (asking | _SMALL_TALK):
        return ()
    return tuple(
        Term(word, "any")
        for word in words
        if len(word) > 1 and not (written_without_spaces(word) and len(word) > _LONGEST_UNSPACED)
    )


def is_code(text: str) -> bool:
    """Whether a term is a code, version or file name: no name, and no word that other notes may use."""
    return bool(_NUMBERED.fullmatch(text)) or any(_is_code(word) for word in text.split())


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
    words = [_Word(match, question) for match in _WORD.finditer(question)]
    lower = all(letter.islower() for letter in question if letter.isalpha())
    told = not lower and not _shouted_or_titled(question)
    capitals = [word for word in words if told and word.text[0].isupper() and not word.first]
    acronyms = [word.text for word in words if told and word.text.isupper()]
    yield from (Term(text, "capitals") for text in acronyms if text not in _STRESSED)
    yield from _names([word for word in capitals if not word.text.isupper()], words)
    for word in words:
        if word not in capitals:
            unknown = (lower or word.first) and count_tokens(word.text.casefold()) > count_tokens("a")
            if unknown or _named_by_context(word.before):
                yield Term(word.text, "perhaps a name")


class _Word:
    """A word of a question. first: its capital, if any, comes from the sentence that begins with it."""

    def __init__(self, match: re.Match[str], question: str) -> None:
        self.text = _POSSESSIVE.sub("", match.group())
        self.start = match.start()
        self.end = match.end()
        self.before = question[: self.start]
        self.first = begins_sentence(self.before)


def _names(capitals: Sequence[_Word], words: Sequence[_Word]) -> Iterator[Term]:
    """Ada Oyelaran is one name; a note may also have the last word of it alone, but Ada alone is anyone."""
    german = any(word.text.casefold() in _GERMAN for word in words)
    run: list[_Word] = []
    for word, following in zip_longest(capitals, capitals[1:]):
        run.append(word)
        if following is not None and following.start == word.end + 1:
            continue
        if len(run) > 1:
            yield Term(" ".join(member.text for member in run), "name")
        # Every German noun has a capital: one word alone is a name only where the question says so.
        if not german or _named_by_context(word.before) or _GERMAN_WHO.match(word.before):
            yield Term(word.text, "name")
        run = []


def _shouted_or_titled(question: str) -> bool:
    """WHY IS THE SKY BLUE, Why Is The Sky Blue: capitals that say nothing about a word."""
    words = re.findall(r"[^\W\d_]{2,}", question)
    return question.isupper() or (len(words) > 3 and all(word[0].isupper() for word in words))


def begins_sentence(before: str) -> bool:
    """Whether a word after this text has its capital from a sentence, line or list item that begins there."""
    kept = before.rstrip(" \t'\"“„«([*_#>-¿¡")
    return not kept or kept[-1] in ".!?:\n\r"


def after_title(before: str) -> bool:
    """Whether a word after this text is someone's name: Dr. Oyelaran."""
    previous = before[-20:].rstrip().rsplit(maxsplit=1)[-1:] or [""]
    return previous[0].strip(_EDGES).casefold() in _TITLES


def _named_by_context(before: str) -> bool:
    return bool(_WHO.fullmatch(before)) or after_title(before)


def is_letter(character: str) -> bool:
    """Whether it is a letter or digit of a script that has spaces between its words; "" is none."""
    return (character.isalnum() or character == "_") and not _SPACELESS.match(character)


def written_without_spaces(text: str) -> bool:
    """Whether its words have no edges that a search could ask for (Japanese, Chinese, Thai, Hangul)."""
    return bool(_SPACELESS.match(text))
