"""CSV and TSV: the file's own text, with the range of cells beside each row."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.documents.document import Document
from ragchat.documents.reader import parse_document
from tests.documents.laws import check_laws


def read(source: str, name: str = "rents.csv") -> Document:
    document = parse_document(source.encode(), name)
    assert isinstance(document, Document), document
    check_laws(document)
    assert document.text == source
    return document


def rows(document: Document) -> list[tuple[str, str]]:
    return [(each.value, document.text[each.start : each.end]) for each in document.locators]


def header(document: Document) -> str:
    [block] = document.blocks
    return document.text[block.header.start : block.header.end] if block.header else ""


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_rows_have_their_cells_whatever_parts_them(delimiter: str, newline: str) -> None:
    lines = [delimiter.join(row) for row in (("Room", "Rent"), ("Bath", "80"), ("Kitchen", "300"))]
    document = read(newline.join(lines) + newline)
    assert rows(document) == [
        ("rents!A1:B1", lines[0]),
        ("rents!A2:B2", lines[1]),
        ("rents!A3:B3", lines[2]),
    ]
    assert header(document) == lines[0]


def test_quotes_hold_delimiters_quotes_and_line_breaks() -> None:
    document = read('Name,Words\n"Smith, J.","said ""no""\nand left"\nB,c\n')
    assert [value for value, _ in rows(document)] == ["rents!A1:B1", "rents!A2:B2", "rents!A3:B3"]
    assert rows(document)[1][1] == '"Smith, J.","said ""no""\nand left"'


def test_a_quote_that_is_never_closed_swallows_nothing() -> None:
    assert len(rows(read('Name,Size\nTube,5"\nPipe,6\nRod,7\n'))) == 4


def test_title_names_and_units_are_the_header() -> None:
    source = "Rents 2027,\nRoom,Rent\n,EUR\nBath,80\nKitchen,300\n"
    assert header(read(source)) == "Rents 2027,\nRoom,Rent\n,EUR"
    assert header(read("Bath,80\nKitchen,300\n")) == ""


def test_empty_rows_part_tables_and_are_in_no_passage() -> None:
    document = read("Room,Rent\nBath,80\n,\nCity,People\nVienna,2\n")
    assert len(document.blocks) == 2
    assert [value for value, _ in rows(document)] == [f"rents!A{n}:B{n}" for n in (1, 2, 4, 5)]


@given(st.text(st.sampled_from(',;\t|"\r\n ab1é語\0'), max_size=60))
def test_any_text_obeys_the_laws(source: str) -> None:
    document = parse_document(source.encode("utf-8-sig"), "a.csv")
    assert isinstance(document, Document)
    check_laws(document)
    assert document.text == source
