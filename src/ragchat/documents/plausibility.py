"""How unlikely a decoded text is as something a person wrote, so that candidate encodings can be compared.

The measure is a cost in rough bits, summed over the characters outside ASCII: cheap for a letter that the
best fitting language uses often, dear for one it lacks, for a symbol in the middle of a word, for a capital
behind a small letter. The same bytes read in the wrong encoding give exactly those. Letters are listed by
falling frequency; the few bits between neighbours do not matter, the dozens between right and wrong do.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache

_LATIN = (
    "éèàêçâîôùûïëœ",  # French
    "üäöß",  # German
    "éáíóñãçúàèêüäöõôâ",  # several western languages in one file
    "óíáéñúü",  # Spanish
    "ãçáéíóõêúâôà",  # Portuguese
    "àèòùéìî",  # Italian
    "óàèéíçòúïü",  # Catalan
    "ëéïöüè",  # Dutch
    "äåöé",  # Swedish, Finnish
    "øåæéö",  # Danish, Norwegian
    "íáðþóæúéýö",  # Icelandic
    "äõüöšž",  # Estonian
    "łąężóśćńź",  # Polish
    "íáěéřýšžčůúťďóň",  # Czech
    "áíéžýčšúťľôďňäóŕĺ",  # Slovak
    "áéóöőíüúű",  # Hungarian
    "ăîâșțşţ",  # Romanian
    "čšžćđ",  # Croatian, Slovene
    "ıüşğçöâî",  # Turkish
    "ėžšųįčūąę",  # Lithuanian
    "āīēšņžļūģķč",  # Latvian
)
_OTHER = (
    "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",  # Russian, Bulgarian
    "оаниітвресклудмпзяьгбчхйжїцюєшщфґ",  # Ukrainian
    "аиоенрстјкувпдмлзгбчшцњжљћхфђџ",  # Serbian
    "αοιετσνηυρπκμλςόίάέθδγήχώύωφβξζψ",  # Greek
    "יוהלאתרבשמנדכקפעחסגטזםןצףךץ",  # Hebrew
    "اليمنوترهبسدعفةكقأحجشطصخضغذثزىئإءآؤظ",  # Arabic
    "اینردهموتشبسکگزلخفپعقجآحچصطغضذثظژئ",  # Persian
    "านรกอเงมยล่วดท้สตะปบคหแจีัพชิใขุูไ์ื็โำผซธณฐฉศษฟถภญ",  # Thai
)
_TYPOGRAPHY = frozenset("“”‘’„‚–—…•«»‹›€£¥°§©®™·¿¡½¼¾²³¹µ×ªº№±÷\u00a0\u00ad\u200e\u200f،؛؟")
_HANZI = frozenset(
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "這個們來為國說時會對過發後裡學沒還進樣經動種無現點從開當與業長電機"
)
_HANGUL = frozenset(
    "이다는의가에고을지하로은한기도사어나자를리시있서그대인해들아일만것으보과수라게정부구성제니면안전원주장상여우"
    "공국스없았습년할동요세녕월회"
)
_FINAL = frozenset("םןץףךς")
"""Letters that stand only at the end of a word."""
_NO_TEXT, _FOREIGN, _ODD_SYMBOL = 20.0, 9.0, 8.0


def _costs(letters: str, least: float, spread: float) -> dict[str, float]:
    costs = {letter: least + spread * rank / len(letters) for rank, letter in enumerate(letters)}
    # A capital is rarer. Upper-casing "ß" or "ı" gives ASCII, which costs nothing anyway.
    return {**{letter.upper(): cost + 1 for letter, cost in costs.items()}, "İ": 5.0, **costs}


_LANGUAGES = tuple(_costs(letters, 2.0, 3.0) for letters in _LATIN) + tuple(
    _costs(letters, 3.0, 5.0) for letters in _OTHER
)


def implausibility(text: str) -> float:
    """The cost of a text in rough bits, 0 for pure ASCII; comparable between readings of the same bytes."""
    letters: Counter[str] = Counter()
    cost = 0.0
    for (before, character, after), count in Counter(_neighbourhoods(text)).items():
        kind = _kind(character)
        if kind == "alphabet":
            letters[character] += count
        cost += count * (_own_cost(character, kind) + _cost_in_context(before, character, after, kind))
    return cost + min(
        sum(count * language.get(letter, _FOREIGN) for letter, count in letters.items())
        for language in _LANGUAGES
    )


def _neighbourhoods(text: str) -> list[tuple[str, str, str]]:
    padded = f" {text} "
    return [(padded[at], padded[at + 1], padded[at + 2]) for at, c in enumerate(text) if c > "\x7f"]


@lru_cache(maxsize=8192)
def _kind(character: str) -> str:
    """ "alphabet", "cjk", "symbol" or "no text"."""
    if character in _TYPOGRAPHY:
        return "symbol"
    category = unicodedata.category(character)
    if category in {"Cc", "Cn", "Co", "Cs"}:
        return "no text"
    if (
        "\u3000" <= character <= "\u9fff"
        or "\uac00" <= character <= "\ud7a3"
        or "\uf900" <= character <= "\ufaff"
    ):
        return "cjk"
    if "\uff00" <= character <= "\uffef" or character >= "\U00020000":
        return "cjk"
    return "alphabet" if category[0] in "LM" else "symbol"


@lru_cache(maxsize=8192)
def _own_cost(character: str, kind: str) -> float:
    """The cost that no language changes; letters of alphabets are counted by language instead."""
    if kind == "no text":
        return _NO_TEXT
    if kind == "symbol":
        return 3.0 if character in _TYPOGRAPHY else _ODD_SYMBOL
    return _cjk_cost(character) if kind == "cjk" else 0.0


def _cjk_cost(character: str) -> float:
    if character in "、。「」『』・ー！？（）　，：；" or "\u3041" <= character <= "\u3096":
        return 4.0
    if "\u30a1" <= character <= "\u30fa" or character in _HANZI or character in _HANGUL:
        return 5.0
    if _is_hangul(character):
        return 8.0 if _row(character, "euc_kr") else 14.0
    if "\uff61" <= character <= "\uff9f":
        return 7.0
    # The first levels of the Japanese and Chinese standards hold the common characters.
    if 0xB0 <= _row(character, "euc_jp") <= 0xCF or 0xB0 <= _row(character, "gb2312") <= 0xD7:
        return 8.0
    if 0xA4 <= _row(character, "big5") <= 0xC6:
        return 9.0
    if _row(character, "euc_jp") or _row(character, "gb2312"):
        return 13.0
    return 16.0


def _is_hangul(character: str) -> bool:
    return "\uac00" <= character <= "\ud7a3"


def _row(character: str, encoding: str) -> int:
    """First byte of the character in a standard, 0 where the standard lacks it."""
    try:
        return character.encode(encoding)[0]
    except UnicodeEncodeError:
        return 0


def _cost_in_context(before: str, character: str, after: str, kind: str) -> float:
    words = before.isalpha() + after.isalpha()
    if kind == "cjk":
        # One such character inside a Latin word is an accented letter that swallowed its neighbour.
        swallowed = words == 2 and before.isascii() and after.isascii()
        mixed = _is_hangul(character) and any("\u3041" <= other <= "\u9fff" for other in (before, after))
        return 6.0 if swallowed or mixed else 0.0
    if kind == "symbol":
        if "\u2500" <= character <= "\u259f" and character in {before, after}:
            return -6.0  # a drawn line repeats one character
        if words == 0 and before > "\xa0" and after > "\xa0":
            return 3.0
        if words < 2 or character in "’\u00ad\u200c\u200d":
            return 0.0
        return 1.0 if character in "–—·" else 4.0
    if kind != "alphabet":
        return 0.0
    cost = 3.0 if words == 0 and unicodedata.category(character)[0] == "L" else 0.0
    if (character.isupper() and before.islower()) or (character.islower() and after.isupper()):
        cost += 5.0
    if character in _FINAL:
        cost += 5.0 if after.isalpha() else -2.0
    latin = character < "\u0250"
    if latin and any(neighbour > "\x7f" and neighbour.isalpha() for neighbour in (before, after)):
        cost += 1.5
    if not latin and any(neighbour.isascii() and neighbour.isalpha() for neighbour in (before, after)):
        cost += 4.0
    return cost
