"""Without a model: sentences word for word, each at its exact range."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.escape import escape_control
from ragchat.answering.quotation import MOST_PER_SOURCE, MOST_SENTENCES, quote_sources
from tests.answering.making import GARDEN, LEASE, a_chunk, a_trace
from tests.doubles import WordEmbedder

PIECES = [
    *("The lease ends in March. ", "Rent is due.\n", "終わる。", "“Quoted.” ", "[1] ", "\x1b[2J", "x" * 700),
    *("# Head\n\n", "```\ncode()\n```\n", "| a | b |\n", "- item\n", "\r\n\r\n"),
]
CONTENTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)


@given(
    st.lists(CONTENTS, min_size=1, max_size=4), st.sampled_from(["When does the lease end?", "?", "終わる"])
)
def test_every_quote_is_where_it_says_it_is(contents: list[str], question: str) -> None:
    chunks = [a_chunk(content, f"{n}.md", start=50 * n) for n, content in enumerate(contents)]
    quotation = quote_sources(a_trace(question, chunks), WordEmbedder(dimensions=32))
    assert 1 <= len(quotation.quotes) <= MOST_SENTENCES
    numbers = [quote.number for quote in quotation.quotes]
    assert numbers == sorted(numbers)
    assert max(numbers.count(number) for number in numbers) <= MOST_PER_SOURCE
    for quote, citation in zip(quotation.quotes, quotation.citations, strict=True):
        chunk = chunks[quote.number - 1]
        assert chunk.content[quote.start - chunk.start : quote.end - chunk.start] == quote.text
        assert citation.numbers == (quote.number,)
        assert quotation.text[citation.start : citation.end] == f"[{quote.number}]"
        assert quotation.text[: citation.start].endswith(escape_control(quote.text) + " ")


def test_the_nearest_sentence_is_chosen() -> None:
    trace = a_trace("When does the lease end?", [a_chunk(GARDEN, "g.md"), a_chunk(LEASE)])
    quotation = quote_sources(trace, WordEmbedder())
    assert "The lease ends on 31 March 2027." in [quote.text for quote in quotation.quotes]
    assert "Water them in the morning." not in [quote.text for quote in quotation.quotes]


def test_a_sentence_over_the_embedders_window_is_judged_by_its_words() -> None:
    long = "The lease " + "and so on " * 20 + "ends in March. Short one."
    quotation = quote_sources(a_trace("lease March", [a_chunk(long)]), WordEmbedder(window=16))
    assert quotation.quotes[0].text.startswith("The lease")


def test_an_undecodable_question_is_quoted_for() -> None:
    assert quote_sources(a_trace("lease \udcff"), WordEmbedder()).quotes


def test_a_code_that_is_asked_for_stands_in_what_is_quoted() -> None:
    codes = "Error E1187 on the boiler means a blocked flue. E1234: the pressure is low."
    quotation = quote_sources(
        a_trace("What does error E1234 on the boiler mean?", [a_chunk(codes)]), WordEmbedder()
    )
    assert [quote.text for quote in quotation.quotes] == ["E1234: the pressure is low."]


def test_a_code_that_no_source_holds_hides_nothing() -> None:
    trace = a_trace("What does error E9999 mean at the end of the lease?", [a_chunk(LEASE)])
    assert quote_sources(trace, WordEmbedder()).quotes


def test_of_a_table_the_row_is_quoted() -> None:
    table = (
        "| code | meaning |\r\n|------|---------|\r\n| E1187 | flue blocked |\r\n| E1234 | low pressure |\r\n"
    )
    quotation = quote_sources(a_trace("What is E1234?", [a_chunk(table, start=7)]), WordEmbedder())
    assert [quote.text for quote in quotation.quotes] == ["| E1234 | low pressure |"]
    start = 7 + table.index("| E1234")
    assert (quotation.quotes[0].start, quotation.quotes[0].end) == (start, start + 24)
