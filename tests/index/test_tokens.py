from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.index import tokens as module
from ragchat.index.tokens import LONGEST_TOKEN, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("X17-AB", ["x17-ab", "x17", "ab"]),
        ("20.04", ["20.04", "20", "04"]),
        ("1,000.50, 3", ["1,000.50", "1", "000", "50", "3"]),
        ("don't", ["don't", "don", "t"]),
        ("don’t", ["don't", "don", "t"]),
        ("C++, C# and c++11", ["c++", "c", "c#", "c", "and", "c++", "c", "11"]),
        ("multi-agent", ["multi-agent", "multi", "agent"]),
        ("multi‑agent", ["multi-agent", "multi", "agent"]),
        ("E1234", ["e1234"]),
        ("snake_case __init__", ["snake_case", "snake", "case", "init"]),
        ("src/app.py", ["src/app.py", "src", "app.py", "app", "py"]),
        ("an.na@x.org", ["an.na@x.org", "an.na", "an", "na", "x.org", "x", "org"]),
        ("# C heading.", ["c", "heading"]),
        ("東京都に。猫", ["東京", "京都", "都に", "猫"]),
        ("データベース", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("ﾃﾞｰﾀ", ["デー", "ータ"]),
        ("iPhone用ケース", ["iphone", "用ケ", "ケー", "ース"]),
        ("서울은", ["서울", "울은"]),
        ("ที่นี่", ["ที่นี่"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("straße ﬁne ＡＢＣ", ["strasse", "fine", "abc"]),
        ("auto\u00admatic", ["automatic"]),
        ("🍕 pizza", ["🍕", "pizza"]),
        ("λήγει ΛΗΓΕΙ", ["λήγει", "ληγει", "ληγει"]),
        ("ёлка и йод", ["ёлка", "елка", "и", "йод"]),
        ("الإِيجَار كـتاب", ["الإِيجَار", "الايجار", "كـتاب", "كتاب"]),
        ("٣١ ३१ ๓๑ ３１", ["31", "31", "31", "31"]),
        ("오류 E1187은", ["오류", "e1187", "은"]),
        ('"', []),
        ("", []),
        ("--- ... '' +", []),
    ],
)
def test_words_are_cut_as_people_search_for_them(text: str, tokens: list[str]) -> None:
    assert tokenize(text) == tokens


@given(st.text())
def test_both_unicode_forms_give_the_same_tokens(text: str) -> None:
    assert tokenize(unicodedata.normalize("NFC", text)) == tokenize(unicodedata.normalize("NFD", text))


@given(st.text())
def test_case_makes_no_difference(text: str) -> None:
    assert tokenize(text.casefold()) == tokenize(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_cut_alike_beside_other_scripts(text: str) -> None:
    assert tokenize(text + " é") == [*tokenize(text), "é"]


@given(st.text(st.sampled_from("ab1Ü. _-'/+#東にก\u0e34\u0301 ")))
def test_every_letter_and_digit_is_in_some_token(text: str) -> None:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    kept = set("".join(tokenize(text)))
    assert {character for character in folded if character.isalnum()} <= kept


@given(st.text(), st.text())
def test_a_blank_line_separates(first: str, second: str) -> None:
    assert tokenize(f"{first}\n\n{second}") == tokenize(first) + tokenize(second)


def test_a_blob_is_no_word() -> None:
    assert tokenize("a" * (LONGEST_TOKEN + 1)) == []
    assert tokenize("a" * LONGEST_TOKEN) == ["a" * LONGEST_TOKEN]


def test_a_long_line_takes_no_time_to_speak_of() -> None:
    assert len(tokenize("a+" * 200_000 + "é")) == 200_001


def test_every_letter_and_mark_of_the_bmp_is_known() -> None:
    """Most of the BMP is not looked through; nothing is missed there."""
    spaceless = re.compile(f"[{module._SPACELESS}]")
    marks = re.compile(f"[{module._marks()}]")
    words = re.compile(f"[{module._word_characters()}]")
    for point in range(0xFFFF):
        character = chr(point)
        is_mark = unicodedata.category(character)[0] == "M"
        assert bool(marks.match(character)) == (is_mark and point >= 0x300)
        is_word = (character.isalnum() or is_mark) and not spaceless.match(character)
        assert bool(words.match(character)) == is_word
