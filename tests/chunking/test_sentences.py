from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.chunking.sentences import line_spans, sentence_spans

WHOLE = [
    "Dr. Smith met J. R. R. Tolkien in the U.S. Senate on Jan. 5.",
    "Pi is 3.14 and version v1.2.3 runs on Ubuntu 20.04 too.",
    "See Fig. A, No. 5 and pp. 3-4, e.g. The Times, i.e. Monday, vs. Tuesday.",
    '"What?" he said.',
    "“Stop!” she cried, and ran.",
    "He wrote (see vol. 2 of St. Petersburg et al. Press) again.",
    "Wait … what is node.js or C. elegans?",
    "1. First thing to do.",
    "IV. Last part.",
    "Es ist z.B. Müller, Nr. 5, bzw. Prof. Kant, der am 3. Oktober kam.",
    "Это т.е. так: в 1990 г. Москва, ул. Ленина, и др.",
    "彼は「行く。来い。」と言った。",
    "価格は３．１４円です。",
    "（注意。これは例。）と書いた。",
    "the charge rose approx. 5 percent in no. 7 etc. and fell.",
    "He said e.g.\nThe Times.",
]


@pytest.mark.parametrize("sentence", WHOLE)
def test_a_sentence_is_not_cut(sentence: str) -> None:
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    "sentences",
    [
        ("The lease ends in May.", "It was signed by Dr. Lee.", "Nobody knows why."),
        ("He lives in the U.S.", "The others do not."),
        ("Is it 20.04?", "Yes!", "Then go..."),
        ("He was 20.", "John left."),
        ("He said no.", "Then he left."),
        ("Take Interstate 9.", "Major roads follow."),
        ('He said "stop."', "Then (so it goes.)", "She left."),
        ("Sales grew.[12]", "Costs fell.[^a]", "**Profit rose.**", "Good."),
        ("We sang .", "`` He ran . ''", "She saw ( them . )", "Then the U.S. team won ."),
        ("revenue grew in 2015.", "costs fell.", "2019 notes were sold.", "we paid."),
        ("梅雨は長い。", "雨が降る！", "本当？", "はい｡", "終わり。"),
        ("「そうだ。」", "彼は去った。"),
        ("यह सच है।", "वह नहीं है।"),
        ("Er ging.", "Sie blieb z.B. hier.", "Der Rest schlief."),
        ("Он ушёл.", "Она осталась."),
    ],
)
def test_sentences_are_told_apart(sentences: tuple[str, ...]) -> None:
    assert texts(" ".join(sentences)) == list(sentences)


def test_full_width_stops_need_no_space_after_them() -> None:
    assert texts("梅雨は長い。雨が降る！本当？はい｡終わり。") == [
        "梅雨は長い。",
        "雨が降る！",
        "本当？",
        "はい｡",
        "終わり。",
    ]


def test_a_blank_line_ends_a_sentence_whatever_follows() -> None:
    assert texts("It ends.\r\n \r\nafter it") == ["It ends.", "after it"]


@given(st.text(alphabet="aB1 .!?…。！？「」()'\"\n\r\t`e.g.\u0301\u200d", max_size=200), st.integers(0, 50))
def test_every_visible_character_lies_in_one_sentence(text: str, start: int) -> None:
    start = min(start, len(text))
    for spans in (sentence_spans(text, start, len(text)), line_spans(text, start, len(text))):
        position = start
        for first, end in spans:
            assert text[position:first].strip() == ""
            assert text[first:end].strip() == text[first:end] != ""
            position = end
        assert text[position:].strip() == ""


def test_nothing_outside_the_range_is_read() -> None:
    text = "One ends. Two begins"
    assert sentence_spans(text, 0, 9) == [(0, 9)]
    assert sentence_spans(text, 4, 13) == [(4, 9), (10, 13)]


def test_rows_and_lines_keep_their_ranges() -> None:
    text = "| a |\r\n  | b. C |  \r\r\n\n| d |"
    assert [text[start:end] for start, end in line_spans(text, 0, len(text))] == [
        "| a |",
        "| b. C |",
        "| d |",
    ]


@pytest.mark.parametrize("unit", ["a. B", "...", ".\"'", "「", "。", ". ", "[^", "1. ", " ", "am 3. X "])
def test_time_grows_with_the_length_only(unit: str) -> None:
    def seconds(length: int) -> float:
        text = unit * (length // len(unit))
        begun = time.process_time()
        sentence_spans(text, 0, len(text))
        return time.process_time() - begun

    # Were it quadratic, sixteen times the length would take 256 times as long.
    assert seconds(320_000) < 80 * max(seconds(20_000), 0.002)


def texts(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]
