"""Pages: what a reader sees, with headings, lists and tables, from any page however broken."""

from __future__ import annotations

import time

import pytest

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import parse_document
from tests.documents.laws import check_laws, read, words


def page(source: str | bytes) -> Document:
    document = read(source, "folder/page.html")
    check_laws(document)
    return document


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, words(document, block)) for block in document.blocks]


def test_a_page_is_read_as_its_reader_sees_it() -> None:
    document = page(
        "<!DOCTYPE html><html><head><title>My &amp; page</title><style>x{}</style></head><body>"
        "<nav>menu</nav><p>Intro <b>bold</b>text &eacute;&nbsp;<!-- c -->after<br>line two</p>"
        "<h1>A</h1>bare<ul><li>one<ul><li>inner</ul>tail<li><p>two<p>more</ul><ol start=3><li>x<li>y</ol>"
        "<h2>B <i>c</i></h2><pre>\n  def f():\n    return 1\n</pre><blockquote>said</blockquote>"
        "<script>var a</script><div style='display:none'>no</div><p hidden>no</p>"
        "<p>end <img alt='picture' src=x></body></html>"
    )
    assert document.title == "My & page"
    assert document.stored
    assert [section.path for section in document.sections] == [(), ("A",), ("A", "B c")]
    assert blocks(document) == [
        ("paragraph", "Intro boldtext é after\nline two"),
        ("heading", "A"),
        ("paragraph", "bare"),
        ("list_item", "- one"),
        ("list_item", "- inner"),
        ("list_item", "tail"),
        ("list_item", "- two"),
        ("list_item", "more"),
        ("list_item", "3. x"),
        ("list_item", "4. y"),
        ("heading", "B c"),
        ("code", "def f():\n    return 1"),
        ("quote", "said"),
        ("paragraph", "end picture"),
    ]


def test_a_table_of_data_is_rows_under_its_column_names() -> None:
    document = page(
        "<table><caption>Prices</caption><thead><tr><th>Thing<th>Price</thead>"
        "<tr><td>Tea<br>green<td>3 <script>x</script>€<tr><td><td>"
        "<tr><td hidden>h<td>Milk<td><p>1</p><p>2</p></table>"
    )
    assert blocks(document) == [
        ("paragraph", "Prices"),
        ("table", "Thing | Price\nTea green | 3 €\nMilk | 1 2"),
    ]
    header = document.blocks[1].header
    assert header is not None
    assert words(document, header) == "Thing | Price"


def test_a_table_that_only_places_things_is_read_through() -> None:
    document = page("<table><tr><td><h2>Head</h2><p>text<td><table><tr><td>a<td>b</table></table>")
    assert blocks(document) == [("heading", "Head"), ("paragraph", "text"), ("table", "a | b")]


@pytest.mark.parametrize(
    ("encoding", "head"),
    [
        ("cp1251", '<meta charset="windows-1251">'),
        ("cp1251", "<meta http-equiv=Content-Type content='text/html; charset=windows-1251'>"),
        ("koi8_r", '<?xml version="1.0" encoding="koi8-r"?>'),
        ("cp1251", '<meta charset="utf-8">'),
        ("utf-16", '<meta charset="utf-8">'),
        ("utf-8", '<meta charset="windows-1252">'),
    ],
)
def test_the_declared_encoding_counts_unless_the_bytes_say_otherwise(encoding: str, head: str) -> None:
    text = "Встреча в понедельник, купить хлеб и молоко."
    assert page(f"{head}<p>{text}</p>".encode(encoding)).text == text


def test_a_declaration_after_a_long_preamble_is_found() -> None:
    source = "<script>" + "a;" * 10_000 + "</script><meta charset=iso-8859-5><p>Привет</p>"
    assert page(source.encode("iso8859_5")).text == "Привет"


def test_empty_elements_of_xhtml_close_themselves() -> None:
    document = page(
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">'
        '<head><title/><script src="a"/></head>'
        "<body><p/><p>words</p></body></html>"
    )
    assert document.text == "words"
    assert document.title == "page"


def test_no_entity_is_expanded_and_nothing_is_fetched() -> None:
    document = page('<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><p>&e; words')
    assert document.text == "&e; words"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<div>" * 10_000 + "<h1>x</h1>" + "</div>" * 10_000 + "<p>y", "x\n\ny"),
        ("<ul><li>" * 5_000 + "x", "x"),
        ("<table><tr><td>" * 3_000 + "x", "x"),
        ("<b>a" * 3_000, "a" * 3_000),
        ("no tags at all", "no tags at all"),
        ("<!-- only a comment -->", ""),
        ("a\0b", "a\ufffdb"),
        ("<" * 1_000, "<" * 1_000),
        ("</p></div><p>x</table>", "x"),
        ("<p>a<?pi x?>b<!-- c -->c", "abc"),
        ("<a>" + "<p " + "b " * 60_000 + ">x", "x"),
        ("<body style='display: none'><main hidden>x", "x"),
        ("<meta <meta" * 20_000 + ">x", "x"),
        ("<p>" + "<![CDATA[x]]>" + "y", "y"),
    ],
    ids=lambda value: value[:20],
)
def test_broken_and_hostile_pages(source: str, text: str) -> None:
    begin = time.process_time()
    assert page(source).text == text
    assert time.process_time() - begin < 3


def test_a_page_that_cannot_be_read_to_its_end_says_so() -> None:
    failed = parse_document(b"<h1>" * 3_000 + b"x", "page.html")
    assert isinstance(failed, FailedDocument)
    assert "too deep" in failed.reason
    assert failed.extractor == "html/2"
