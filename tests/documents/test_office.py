"""Word, PowerPoint, Excel, OpenDocument, EPUB, RTF: the text with its places, or a true reason."""

from __future__ import annotations

import datetime
import functools
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pptx
import pytest
from pptx.util import Inches

from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Block, Document, FailedDocument
from ragchat.documents.reader import parse_document
from ragchat.documents.workers import Limits, WorkerPool
from tests.chunking.test_laws import COUNTERS
from tests.documents.laws import check_laws
from tests.documents.zips import docx, epub, odf, word_paragraph, word_table, zipped

LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(12)
)
SECRET = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


def read(data: bytes, name: str) -> Document:
    document = parse_document(data, name)
    assert isinstance(document, Document), document
    check_laws(document)
    return document


def failure(data: bytes, name: str) -> FailedDocument:
    failed = parse_document(data, name)
    assert isinstance(failed, FailedDocument), failed
    assert failed.hint
    return failed


def table_of(document: Document) -> Block:
    [block] = [block for block in document.blocks if block.kind == "table"]
    return block


def places(document: Document) -> list[tuple[str, str]]:
    return [(each.value, document.text[each.start : each.end].strip()) for each in document.locators]


def test_word_keeps_headings_and_tables() -> None:
    document = read(
        docx(
            word_paragraph("Lease", "Heading1"),
            word_paragraph("It ends in March."),
            word_paragraph("Rooms", "Heading2"),
            word_paragraph("Table 1: Rooms of the house"),
            word_table(("Room", "Size"), ("Kitchen", "12"), ("Bath", "5")),
        ),
        "a.docx",
    )
    assert [section.path for section in document.sections] == [("Lease",), ("Lease", "Rooms")]
    block = table_of(document)
    assert document.text[block.start : block.end] == "Room | Size\nKitchen | 12\nBath | 5"
    assert block.header is not None
    assert document.text[block.header.start : block.header.end] == "Room | Size"
    assert block.caption is not None
    assert document.text[block.caption.start : block.caption.end] == "Table 1: Rooms of the house"


def test_each_part_of_a_long_table_carries_names_and_caption_in_what_is_embedded() -> None:
    rows = [(f"Room number {n}", f"{n * 3} square metres") for n in range(40)]
    document = read(
        docx(word_paragraph("Table 1: Rooms"), word_table(("Room name", "Size of it"), *rows)), "a.docx"
    )
    _, *later = chunk_document(document, ChunkOptions(size=200), COUNTERS[0])
    assert len(later) > 3
    for chunk in later:
        assert chunk.text.startswith("[a]\nTable 1: Rooms\nRoom name | Size of it\n")
        assert "Room name" not in chunk.content


def workbook(**sheets: Sequence[Sequence[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_excel_rows_have_their_sheet_and_range() -> None:
    data = workbook(
        Rents=[("Room", "Rent", "From"), ("Kitchen", 300.5, datetime.date(2027, 4, 1)), ("Bath", 80, None)],
        Notes=[(None, "alone")],
    )
    document = read(data, "a.xlsx")
    assert places(document) == [
        ("Rents!A1:C1", "Room | Rent | From"),
        ("Rents!A2:C2", "Kitchen | 300.5 | 2027-04-01"),
        ("Rents!A3:C3", "Bath | 80"),
        ("Notes!B1", "alone"),
    ]
    assert [section.path for section in document.sections] == [("Rents",), ("Notes",)]


def test_a_passage_of_several_rows_has_their_common_range_and_the_column_names() -> None:
    rows = [
        ("Room", "Rent"),
        ("", "EUR"),
        *((f"Room number {n} of the house", n * 100) for n in range(1, 30)),
    ]
    chunks = chunk_document(read(workbook(Rents=rows), "a.xlsx"), ChunkOptions(size=120), COUNTERS[0])
    assert chunks[0].locator.startswith("sheet=Rents!A1:B")
    assert chunks[1].text.startswith("[a > Rents]\nRoom | Rent\n| EUR\n")
    first, last = chunks[1].locator.removeprefix("sheet=Rents!A").split(":B")
    assert chunks[1].content.startswith(f"Room number {int(first) - 2} ")
    assert chunks[1].content.endswith(f"| {(int(last) - 2) * 100}")


def test_excel_tables_are_parted_by_empty_rows() -> None:
    data = workbook(S=[("Name", "Age"), ("Anna", 30), (), ("City", "People"), ("Vienna", 2)])
    names = [block.header for block in read(data, "a.xlsx").blocks if block.kind == "table"]
    assert len([name for name in names if name]) == 2


def presentation() -> bytes:
    slides = pptx.Presentation()
    first = slides.slides.add_slide(slides.slide_layouts[1])
    first.shapes.title.text = "Lease"
    first.placeholders[1].text = "It ends in March.\nThe rent is 300."
    second = slides.slides.add_slide(slides.slide_layouts[6])
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for n, cell in enumerate(("Room", "Rent", "Bath", "80")):
        table.cell(n // 2, n % 2).text = cell
    second.shapes.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.text = "Above the table"
    second.notes_slide.notes_text_frame.text = "Say it slowly."
    out = io.BytesIO()
    slides.save(out)
    return out.getvalue()


def test_powerpoint_has_slides_tables_and_notes() -> None:
    document = read(presentation(), "a.pptx")
    assert places(document) == [
        ("1", "Lease\n\nIt ends in March.\nThe rent is 300."),
        ("2", "Above the table\n\nRoom | Rent\nBath | 80\n\nSay it slowly."),
    ]
    assert [section.path for section in document.sections] == [("Lease",), ()]


CELL = "<table:table-cell><text:p>{}</text:p></table:table-cell>"


def test_opendocument_text() -> None:
    body = (
        "<office:text><text:h text:outline-level='1'>Lease</text:h>"
        "<text:p>It ends<text:s/>in <text:span>March</text:span>.</text:p>"
        "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
        f"<table:table><table:table-row>{CELL.format('Room')}{CELL.format('Rent')}</table:table-row>"
        f"<table:table-row>{CELL.format('Bath')}{CELL.format('80')}</table:table-row></table:table>"
        "<text:p>After.<office:annotation><text:p>comment</text:p></office:annotation></text:p></office:text>"
    )
    document = read(odf(body), "a.odt")
    assert document.text == "Lease\n\nIt ends in March.\n\n- one\n\nRoom | Rent\nBath | 80\n\nAfter."
    assert table_of(document).header is not None


def test_opendocument_sheets_and_slides() -> None:
    far = "<table:table-cell table:number-columns-repeated='1000000'/>"
    rows = (
        f"<table:table-row>{CELL.format('Room')}{CELL.format('Rent')}{far}</table:table-row>"
        "<table:table-row table:number-rows-repeated='1000000'/>"
        f"<table:table-row><table:table-cell/>{CELL.format('80')}</table:table-row>"
    )
    sheet = f"<office:spreadsheet><table:table table:name='S'>{rows}</table:table></office:spreadsheet>"
    assert places(read(odf(sheet), "a.ods")) == [("S!A1:B1", "Room | Rent"), ("S!B1000002", "80")]
    slides = "".join(f"<draw:page><text:p>Slide {word}</text:p></draw:page>" for word in ("one", "two"))
    document = read(odf(f"<office:presentation>{slides}</office:presentation>"), "a.odp")
    assert places(document) == [("1", "Slide one"), ("2", "Slide two")]


def test_a_book_has_chapters() -> None:
    chapters = {"one.xhtml": "<h1>Start</h1><p>First words.</p>", "two.xhtml": "<p>Second words.</p>"}
    document = read(epub(chapters), "a.epub")
    assert document.title == "A book"
    assert places(document) == [("1", "Start\n\nFirst words."), ("2", "Second words.")]
    assert [section.path for section in document.sections] == [("Start",), ()]


def test_a_book_with_a_broken_chapter_tells_which() -> None:
    chapters = {"one.xhtml": "<p>First words.</p>", "../../../../etc/passwd": ""}
    document = read(epub(chapters), "a.epub")
    assert document.text == "First words."
    assert [gap[:10] for gap in document.gaps] == ["chapter 2:"]


def test_a_book_under_copy_protection() -> None:
    locked = "<encryption><CipherReference URI='OPS/1.xhtml'/></encryption>"
    data = epub({"1.xhtml": "x"}, **{"META-INF/encryption.xml": locked})
    assert "encrypted (DRM)" in failure(data, "a.epub").reason


def test_rtf() -> None:
    source = (
        rb"{\rtf1\ansi\ansicpg1252 {\info{\title Lease}}K\'fcche und Bad\par \u26085?\u26412?\par"
        rb"\trowd a\cell b\cell\row\trowd c\cell d\cell\row}"
    )
    document = read(source, "a.rtf")
    assert document.title == "Lease"
    assert document.text == "Küche und Bad\n\n日本\n\na | b\nc | d"
    assert "is no RTF" in failure(b"words", "a.rtf").reason


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.odt", "a.epub"])
def test_what_is_no_such_document_fails_with_its_reason(name: str) -> None:
    assert "it is not a" in failure(b"words", name).reason
    assert "it is not a" in failure(b"", name).reason
    assert "damaged" in failure(zipped({"a": "words"})[:-30], name).reason
    assert "zip archive, but not" in failure(zipped({"a": "words"}), name).reason
    assert "before 2007" in failure(OLD + b"x" * 600, name).reason
    locked = OLD + b"x" * 600 + "EncryptedPackage".encode("utf-16-le")
    assert "opens only with its password" in failure(locked, name).reason


def test_what_an_xml_parser_refuses_is_told_as_it_is() -> None:
    long = failure(docx(word_paragraph("A" * 10_100_000)), "a.docx").reason
    assert "over ten million characters" in long
    deep = failure(docx("<w:p>" * 400 + "</w:p>" * 400), "a.docx").reason
    assert "nested too deep" in deep


@pytest.mark.parametrize("container", ["<container/>", "<container><rootfile/></container>"])
def test_a_book_whose_container_names_no_text(container: str) -> None:
    data = epub({"a.xhtml": "<p>words</p>"}, **{"META-INF/container.xml": container})
    assert failure(data, "a.epub").reason == "its container does not say where its text is"


def test_an_encrypted_opendocument_file() -> None:
    data = odf("<office:text/>", manifest="<manifest><encryption-data/></manifest>")
    assert "opens only with its password" in failure(data, "a.odt").reason


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (docx(), "a.docx"),
        (workbook(S=[]), "a.xlsx"),
        (odf("<office:text/>"), "a.odt"),
        (epub({}), "a.epub"),
        (rb"{\rtf1}", "a.rtf"),
    ],
)
def test_what_is_empty_says_so(data: bytes, name: str) -> None:
    assert "holds" in failure(data, name).reason


@pytest.mark.parametrize("prolog", [LAUGHS + "]>", SECRET])
def test_entities_are_not_expanded(prolog: str) -> None:
    for data, name in (
        (docx(word_paragraph("before &a; &m; after"), prolog=prolog), "a.docx"),
        (odf("<office:text><text:p>before &a; &m; after</text:p></office:text>", prolog=prolog), "a.odt"),
    ):
        result = parse_document(data, name)
        if isinstance(result, Document):
            assert "root:" not in result.text
            assert len(result.text) < 1000
        else:
            assert result.hint


@functools.cache
def bomb() -> bytes:
    """Half a gigabyte of zeros."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w") as part,
    ):
        for _ in range(50):
            part.write(bytes(10_000_000))
    return out.getvalue()


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx", "a.odt", "a.epub"])
def test_a_bomb_is_not_unpacked(name: str) -> None:
    assert "it unpacks to" in failure(bomb(), name).reason


def test_a_bomb_that_lies_about_its_size_fails() -> None:
    data = odf("<office:text>" + "<text:p>word</text:p>" * 50_000 + "</office:text>")
    directory = data.rfind(b"content.xml") - 46
    lying = data[: directory + 24] + (100).to_bytes(4, "little") + data[directory + 28 :]
    assert failure(lying, "a.odt").reason


def test_names_that_lead_out_of_an_archive_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = docx(word_paragraph("Words."), **{"../../slipped.txt": "x", "/tmp/ragchat-slipped.txt": "x"})
    assert read(data, "a.docx").text == "Words."
    assert not Path("/tmp/ragchat-slipped.txt").exists()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (
            docx("<w:tbl><w:tr><w:tc>" * 5_000 + word_paragraph("x") + "</w:tc></w:tr></w:tbl>" * 5_000),
            "a.docx",
        ),
        (odf("<text:section>" * 100_000 + "<text:p>x</text:p>" + "</text:section>" * 100_000), "a.odt"),
        (epub({"1.xhtml": "<div>" * 100_000 + "words"}), "a.epub"),
    ],
)
def test_deep_nesting_neither_hangs_nor_crashes(data: bytes, name: str) -> None:
    pool = WorkerPool(Limits(seconds=30))
    module = {"a.docx": "docx", "a.odt": "opendocument", "a.epub": "epub"}[name]
    try:
        result = pool.parse(f"ragchat.documents.{module}", "x/1", data, name, "")
    finally:
        pool.close()
    assert isinstance(result, Document) or ("deep" in result.reason and result.hint)
