"""Each sentence against the sources it cites: what is found, what is not, what cannot be told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.citations import attach_citations
from ragchat.answering.events import Answer
from ragchat.answering.outcome import blank
from ragchat.answering.support import check_support
from tests.answering.making import a_chunk, a_trace
from tests.doubles import WordEmbedder

LEASE = "The lease ends on 31 March 2027. The rent is 1,140 a month, due on the first day."
DOGS = "Dogs may be kept. A deposit of 200 is due for each of them."


def answered(text: str, *contents: str) -> Answer:
    trace = a_trace("?", [a_chunk(content) for content in contents or (LEASE, DOGS)])
    citations = attach_citations(text, len(trace.sources))
    return replace(blank(trace), text=text, answered_by="model", citations=citations)


def told(text: str, *contents: str) -> list[tuple[str, tuple[int, ...], bool | None]]:
    answer = answered(text, *contents)
    return [(text[s.start : s.end], s.numbers, s.found) for s in check_support(answer, WordEmbedder())]


def test_a_sentence_is_found_in_the_source_it_cites_and_not_in_another() -> None:
    assert told("The lease ends on 31 March 2027 [1].")[0][1:] == ((1,), True)
    assert told("The lease ends on 31 March 2027 [2].")[0][1:] == ((2,), False)
    assert told("The lease ends on 31 March 2027 [1][2].")[0][1:] == ((1, 2), True)


def test_a_number_that_the_source_lacks_is_not_found() -> None:
    assert told("The rent is 1,140 a month [1].")[0][2] is True
    assert told("The rent is 1,240 a month [1].")[0][2] is False
    assert told("The lease ends on 31 March 2028 [1].")[0][2] is False


def test_marks_behind_the_full_stop_belong_to_the_sentence_before() -> None:
    found = told("The rent is 1,140 a month. [1] A deposit of 200 is due. [2]")
    assert [(numbers, found) for _, numbers, found in found] == [((1,), True), ((2,), True)]
    assert found[0][0].endswith("[1]")


def test_an_item_of_a_list_is_a_sentence_of_its_own() -> None:
    text = "It is so [1]:\n\n- The lease ends on 31 March 2027 [1]\n- Dogs may be kept [2]\n  by all [2]\n"
    assert told(text)[1:] == [
        ("The lease ends on 31 March 2027 [1]", (1,), True),
        ("Dogs may be kept [2]\n  by all [2]", (2,), True),
    ]
    assert told("It is so:\n1. Dogs may be kept [2]\n12) The rent is 1,140 a month [1]")[1:] == [
        ("Dogs may be kept [2]", (2,), True),
        ("The rent is 1,140 a month [1]", (1,), True),
    ]
    assert told("1. Dogs may be kept [2]") == [("Dogs may be kept [2]", (2,), True)]


def test_a_line_that_is_only_wrapped_is_one_sentence() -> None:
    assert told("The lease ends\non 31 March 2027 [1].") == [
        ("The lease ends\non 31 March 2027 [1].", (1,), True)
    ]


def test_a_sentence_without_a_source_cannot_be_told() -> None:
    assert told("The lease ends soon. Dogs may be kept [2].")[0][1:] == ((), None)
    assert told("Dogs may be kept [7].")[0][1:] == ((), None)


def test_another_script_cannot_be_compared() -> None:
    assert told("契約は三月に終わります [1]。")[0][1:] == ((1,), None)
    japanese = "契約は2027年3月31日に終了する。"
    assert told("契約は2027年3月31日に終了する [1]。", japanese)[0][1:] == ((1,), True)


def test_the_words_before_a_passage_were_sent_too() -> None:
    chunk = replace(a_chunk("it ends in March."), lead="Unless it is renewed by both, ")
    text = "Unless it is renewed by both, it ends in March [1]."
    answer = answered(text)
    trace = a_trace("?", [chunk])
    (only,) = check_support(replace(answer, trace=trace, citations=attach_citations(text, 1)), WordEmbedder())
    assert only.found


def test_what_is_no_models_answer_is_not_checked() -> None:
    answer = answered("The lease ends on 31 March 2027 [1].")
    for other in (
        replace(answer, text=None),
        replace(answer, abstained=True),
        replace(answer, answered_by="quotation"),
    ):
        assert check_support(other, WordEmbedder()) == ()


@pytest.mark.filterwarnings("error")
@given(st.text(alphabet="ab1. [1]\n!?。日", max_size=60))
def test_ranges_are_in_order_within_the_answer(text: str) -> None:
    supports = check_support(answered(text), WordEmbedder())
    position = 0
    for support in supports:
        assert position <= support.start < support.end <= len(text)
        position = support.end
