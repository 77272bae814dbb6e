"""PDF: the text as a person reads it, each passage with its page, or a true reason why not."""

from __future__ import annotations

import shutil

import pypdfium2
import pytest

from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.documents import ocr
from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import parse_document
from ragchat.documents.reading import Reading
from ragchat.documents.workers import Limits, WorkerPool
from tests.chunking.test_laws import COUNTERS
from tests.documents.laws import check_laws
from tests.documents.pdfs import Page, Picture, Words, assembled, column, pdf

has_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract-ocr is not installed")
LOREM = (
    "The lease begins on the first of April and is made for",
    "a term of three years. After that term it goes on from",
    "month to month until one of the two parties ends it in",
    "writing with a notice of two months to the other one.",
)


def read(*pages: Page, **how: object) -> Document:
    document = parse_document(pdf(*pages, **how), "a.pdf")  # type: ignore[arg-type]
    assert isinstance(document, Document), document
    check_laws(document)
    return document


def failure(data: bytes, reading: Reading | None = None) -> FailedDocument:
    failed = parse_document(data, "a.pdf", reading)
    assert isinstance(failed, FailedDocument)
    assert failed.hint
    return failed


def blocks(document: Document) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def test_every_passage_has_its_page() -> None:
    pages = [
        column(72, 700, [f"On page {name} stands a word of its own."]) for name in ("one", "two", "three")
    ]
    document = read(*pages)
    assert [(each.kind, each.value) for each in document.locators] == [("page", str(n)) for n in (1, 2, 3)]
    for place, word in zip(document.locators, ("one", "two", "three"), strict=True):
        assert word in document.text[place.start : place.end]
    chunks = chunk_document(document, ChunkOptions(size=60), COUNTERS[0])
    assert [(chunk.locator, chunk.content.split()[2]) for chunk in chunks] == [
        ("page=1", "one"),
        ("page=2", "two"),
        ("page=3", "three"),
    ]


def test_a_page_without_text_keeps_the_count() -> None:
    document = read(column(72, 700, ["First words."]), [], column(72, 700, ["Last words."]))
    assert [each.value for each in document.locators] == ["1", "3"]


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [f"Left line {n} tells of the lease and its" for n in range(8)]
    right = [f"Right line {n} tells of the cat and its" for n in range(8)]
    text = read(
        [Words(72, 780, "A title that goes across both of the two columns of the page", 16)]
        + [word for pair in zip(column(72, 700, left), column(320, 700, right), strict=True) for word in pair]
    ).text
    assert text.index("Left line 7") < text.index("Right line 0")
    assert text.startswith("A title")


def test_columns_whose_lines_are_not_at_the_same_height() -> None:
    left = column(72, 700, [f"Left line {n} tells of the lease and its" for n in range(8)])
    right = column(320, 694, [f"Right line {n} tells of the cat and its" for n in range(8)])
    text = read([word for pair in zip(left, right, strict=True) for word in pair]).text
    assert text.index("Left line 7") < text.index("Right line 0")


def test_running_headers_footers_and_page_numbers_are_left_out() -> None:
    def page(number: int, words: str) -> Page:
        return [
            Words(72, 800, "Handbook of leases, 3rd edition"),
            *column(72, 700, [words, f"Line {number * 7} is part of the body and stays."]),
            Words(280, 40, f"Page {number} of 3"),
        ]

    text = read(page(1, "Cats sleep."), page(2, "Dogs bark."), page(3, "Birds sing.")).text
    assert "Handbook" not in text
    assert "of 3" not in text
    for words in ("Cats sleep.", "Dogs bark.", "Birds sing.", "Line 7 is", "Line 14 is", "Line 21 is"):
        assert words in text


def test_a_page_that_holds_only_what_others_hold_keeps_it() -> None:
    assert read([Words(72, 700, "Hello")], [Words(72, 700, "Hello")]).text == "Hello\n\nHello"


def test_words_cut_at_the_end_of_a_line_are_whole_again() -> None:
    text = read(
        column(
            72,
            700,
            ["The apart-", "ment has a well-known owner, Jean-", "Paul, who is well-", "known there."],
        )
    ).text
    assert text == "The apartment has a well-known owner, Jean-Paul, who is well-known there."


def test_a_sentence_goes_on_over_the_end_of_a_page() -> None:
    first = [*column(72, 700, LOREM), *column(72, 120, ["The deposit is paid back within six weeks of the"])]
    document = read(first, column(72, 700, ["end of the lease, with interest."]))
    whole = "The deposit is paid back within six weeks of the end of the lease, with interest."
    assert whole in document.text
    assert document.text[document.locators[1].start :].startswith("end of the lease")


def test_larger_and_bold_lines_are_headings() -> None:
    document = read(
        [
            Words(72, 780, "Lease", 20),
            *column(72, 740, LOREM),
            Words(72, 660, "Deposit", 11, bold=True),
            *column(72, 640, LOREM),
        ]
    )
    assert [section.path for section in document.sections] == [("Lease",), ("Lease", "Deposit")]
    assert document.title == "Lease"


def test_a_table_keeps_rows_columns_names_and_caption() -> None:
    rows = (("Country", "Capital", "People"), ("Austria", "Vienna", "8.9"), ("Belgium", "Brussels", "11.5"))
    table = [
        Words(72 + 150 * n, 600 - 16 * at, cell) for at, row in enumerate(rows) for n, cell in enumerate(row)
    ]
    document = read([*column(72, 700, LOREM), Words(72, 630, "Table 1: Countries of Europe"), *table])
    [block] = [block for block in document.blocks if block.kind == "table"]
    assert document.text[block.start : block.end] == (
        "Country | Capital | People\nAustria | Vienna | 8.9\nBelgium | Brussels | 11.5"
    )
    assert block.header is not None
    assert block.caption is not None
    assert document.text[block.header.start : block.header.end] == "Country | Capital | People"
    assert document.text[block.caption.start : block.caption.end] == "Table 1: Countries of Europe"


def test_numbered_lines_are_no_table() -> None:
    lines = [Words(72, 700 - 14 * n, f"{n}.") for n in range(1, 5)]
    words = [Words(110, 700 - 14 * n, f"Point number {n} of the list") for n in range(1, 5)]
    kinds = {
        block.kind
        for block in read([each for pair in zip(lines, words, strict=True) for each in pair]).blocks
    }
    assert kinds == {"list_item"}


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_text_is_read_whichever_way_it_runs(angle: int) -> None:
    step = {90: (14, 0), 180: (0, 14), 270: (-14, 0)}[angle]
    x, y = {90: (100, 100), 180: (500, 400), 270: (500, 700)}[angle]
    page = [Words(x + n * step[0], y + n * step[1], line, angle=angle) for n, line in enumerate(LOREM)]
    assert read(page, rotate=angle).text == " ".join(LOREM)


def test_what_is_drawn_twice_is_read_once() -> None:
    assert read([Words(72, 700, "Important"), Words(72.4, 700, "Important")]).text == "Important"


def test_a_letter_spaced_line_is_words() -> None:
    letters = [Words(72 + 12 * n, 700, letter) for n, letter in enumerate("LEASE")]
    more = [Words(152 + 12 * n, 700, letter) for n, letter in enumerate("TERM")]
    assert read([*letters, *more]).text == "LEASE TERM"


def test_an_empty_password_opens_and_another_one_is_asked_for() -> None:
    page = column(72, 700, ["Secret words."])
    assert read(page, password="").text == "Secret words."
    failed = failure(pdf(page, password="x"))
    assert "opens only with its password" in failed.reason


def test_the_title_is_its_own_unless_it_is_a_file_name() -> None:
    page = column(72, 700, ["Some words."])
    assert read(page, title="Lease of 2027").title == "Lease of 2027"
    assert read(page, title="lease.docx").title == "a"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is no PDF"),
        (b"just words", "is no PDF"),
        (b"%PDF-1.7\ngarbage", "damaged"),
        (pdf([Words(72, 700, "Hello")])[:200], "damaged"),
        (pdf([]), "its page holds no text"),
        (pdf([], []), "none of its 2 pages"),
    ],
)
def test_what_is_no_text_fails_with_its_reason(data: bytes, reason: str) -> None:
    assert reason in failure(data).reason


def test_a_million_pages_are_too_many() -> None:
    kids = b"3 0 R " * 1_000_000
    data = assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1000000 /Kids [" + kids + b"] >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        ]
    )
    assert "1,000,000 pages" in failure(data).reason


def test_a_tree_of_pages_that_grows_without_end() -> None:
    levels = [
        b"<< /Type /Pages /Count 1000000000 /Kids [" + b"%d 0 R " % (at + 3) * 10 + b"] >>"
        for at in range(30)
    ]
    data = assembled([b"<< /Type /Catalog /Pages 2 0 R >>", *levels, b"<< /Type /Pages /Kids [2 0 R] >>"])
    pool = WorkerPool(Limits(seconds=1))
    failed = pool.parse("ragchat.documents.pdf", "pdf/1", data, "a.pdf", "")
    pool.close()
    assert isinstance(failed, FailedDocument)
    assert "1 seconds were not enough" in failed.reason


def test_a_page_that_is_damaged_is_told_and_the_others_are_read() -> None:
    whole = pdf(column(72, 700, ["First words."]), column(72, 700, ["Second words."]))
    broken = whole.replace(b"/Type /Page /Parent", b"/Type /Pagx /Parent", 1).replace(
        b"/MediaBox", b"/Nothing_", 1
    )
    document = parse_document(broken, "a.pdf")
    assert isinstance(document, Document)
    assert "Second words." in document.text


def picture_of(page: Page) -> Picture:
    """A scan of the page."""
    file = pypdfium2.PdfDocument(pdf(page))
    bitmap = file[0].render(scale=200 / 72, grayscale=True)
    pixels = bytes(bitmap.buffer)
    stride, width, height = bitmap.stride, bitmap.width, bitmap.height
    bitmap.close()
    file.close()
    rows = [bytearray(pixels[at : at + width]) for at in range(0, stride * height, stride)]
    return Picture(width, height, b"".join(rows))


@has_tesseract
def test_a_scanned_page_is_read_with_its_page() -> None:
    scan = picture_of(column(72, 700, LOREM, size=14))
    document = read(column(72, 700, ["Words of a text layer."]), [scan])
    second = document.locators[1]
    assert second.value == "2"
    assert "goes on from month to month" in document.text[second.start : second.end]
    assert document.gaps == ()


@has_tesseract
def test_a_scan_below_the_confidence_is_failed_not_guessed() -> None:
    scan = picture_of(column(72, 700, LOREM, size=14))
    failed = failure(pdf([scan]), Reading(confidence=100))
    assert "below the 100 % asked for" in failed.reason
    document = parse_document(
        pdf(column(72, 700, ["A text layer."]), [scan]), "a.pdf", Reading(confidence=100)
    )
    assert isinstance(document, Document)
    assert document.text == "A text layer."
    assert [gap[:7] for gap in document.gaps] == ["page 2:"]


@has_tesseract
def test_a_language_that_is_not_there_is_named() -> None:
    failed = failure(pdf([picture_of(column(72, 700, LOREM))]), Reading(languages="eng+tlh"))
    assert "lacks the language tlh" in failed.reason
    assert "tesseract-ocr-tlh" in failed.hint


def test_without_tesseract_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "installed_languages", lambda: None)
    scan = Picture(2, 2, b"\0\xff\xff\0")
    failed = failure(pdf([scan]))
    assert "Tesseract is not installed" in failed.reason
    assert "apt-get install tesseract-ocr" in failed.hint
    assert "pictures are not read" in failure(pdf([scan]), Reading(languages="")).reason


@has_tesseract
def test_a_picture_without_words_says_so() -> None:
    assert "no words were found" in failure(pdf([Picture(2, 2, b"\xff\xff\xff\xff")])).reason
