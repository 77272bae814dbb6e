"""PDF as readable text, each passage with its page.

PDFium gives the characters and their places; reading order, columns, tables and headings are found here. A
page without a usable text layer is read as a picture, where Tesseract is installed. Form fields, comments and
attachments are not read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pypdfium2

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.ocr import NotRecognisedError, recognise
from ragchat.documents.page import Page
from ragchat.documents.pdf_layout import Line, lines_in_reading_order
from ragchat.documents.pdf_segments import Segment, segments_of
from ragchat.documents.pdf_text import PageLines, put_pages
from ragchat.documents.plausibility import implausibility
from ragchat.documents.reading import Reading

EXTRACTOR = "pdf/1"

_MOST_PAGES = 10_000
_MOST_UNKNOWN = 0.3
"""Share of characters of unknown meaning above which a text layer is of no use."""
_MOST_BITS = 9.0
"""For each character outside ASCII; see `plausibility.py`."""
_ODD_WORD = re.compile(r"[a-z][A-Z0-9\\~^|{}@$&]|[\x00-\x1f\ufffd\ue000-\uf8ff]")
_DOTS_PER_INCH = 300
_MOST_PIXELS = 40_000_000
_SUFFIXES = (".doc", ".docx", ".dvi", ".tex", ".ps", ".odt", ".pdf", ".indd", ".ppt", ".pptx", ".xls")
_RESAVE = "open it in a PDF viewer and print it into a new PDF, then: ragchat index --retry"
_NOTHING = "nothing is to be done; list it in .ragchatignore if it is not to be told"
_PASSWORD = "save a copy without the password, or list it in .ragchatignore"


def parse(data: bytes, name: str, digest: str, reading: Reading) -> Document | FailedDocument:
    """A PDF as a document of readable text, or why it is none."""
    try:
        file = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        return FailedDocument(name, *_why(error, data), digest, EXTRACTOR)
    with contextlib.closing(file):
        count = len(file)
        if count > _MOST_PAGES:
            reason = f"it has {count:,} pages, more than {_MOST_PAGES:,}"
            return FailedDocument(name, reason, "split it, or list it in .ragchatignore", digest, EXTRACTOR)
        pages, troubles, wordless = _read(file, count, reading)
        title = file.get_metadata_value("Title")
    page = Page()
    put_pages(pages, page)
    gaps = tuple(f"page {number}: {trouble.reason}" for number, trouble in troubles)
    document = page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=_title(title), gaps=gaps)
    if document.text:
        return document
    if troubles:
        number, trouble = troubles[0]
        more = "" if count == 1 else f"page {number}: "
        return FailedDocument(name, more + trouble.reason, trouble.hint, digest, EXTRACTOR)
    what = "its page holds no text" if count == 1 else f"none of its {count:,} pages holds any text"
    if wordless:
        what = (
            "it is a picture in which no words were found" if count == 1 else f"{what}, nor do their pictures"
        )
    return FailedDocument(name, what, _NOTHING, digest, EXTRACTOR)


def _why(error: pypdfium2.PdfiumError, data: bytes) -> tuple[str, str]:
    """Reason and hint of a file that does not open."""
    told = str(error)
    if "password" in told.lower():
        return "it is encrypted, and opens only with its password", _PASSWORD
    if "security" in told.lower():
        return "it is encrypted in a way that is not supported", _PASSWORD
    if b"%PDF-" not in data[:1024]:
        return "it is named .pdf, but is no PDF", "look what it is, and give it its own suffix"
    return "it is damaged: its pages cannot be found in it", _RESAVE


def _title(given: str) -> str:
    """The title it gives itself, unless that is the name of the file it was made from."""
    words = given.strip("\0 \t\r\n")
    made_from = words.lower().endswith(_SUFFIXES)
    return "" if made_from or words.lower() in {"untitled", "title"} else words


def _read(
    file: Any, count: int, reading: Reading
) -> tuple[list[PageLines], list[tuple[int, NotRecognisedError]], int]:
    """The pages with text, those that cannot be read, and how many are pictures without words."""
    pages, troubles, wordless = [], [], 0
    for number in range(1, count + 1):
        try:
            with _opened(file, number - 1) as page:
                lines = _lines(page, reading)
            wordless += lines is None
            pages.append(PageLines(number, lines or []))
        except pypdfium2.PdfiumError:
            troubles.append((number, NotRecognisedError("it is damaged", _RESAVE)))
        except NotRecognisedError as trouble:
            troubles.append((number, trouble))
        reading.progressed()
    return pages, troubles, wordless


@contextlib.contextmanager
def _opened(file: Any, index: int) -> Iterator[Any]:
    page = file[index]
    try:
        yield page
    finally:
        page.close()


def _lines(page: Any, reading: Reading) -> list[Line] | None:
    """None for a picture without words. Raises NotRecognisedError for one that cannot be read."""
    text_page = page.get_textpage()
    try:
        segments, unknown = segments_of(text_page.raw)
    finally:
        text_page.close()
    if segments and (unknown <= _MOST_UNKNOWN or not _is_garbled(segments)):
        return lines_in_reading_order(segments)
    if not segments and not _shows_pictures(page):
        return []
    try:
        return _recognised_lines(page, reading) or None
    except NotRecognisedError as trouble:
        if segments:
            reason = "its fonts do not tell which letters they draw; " + trouble.reason
            raise NotRecognisedError(reason, trouble.hint) from trouble
        raise


def _is_garbled(segments: Sequence[Segment]) -> bool:
    """Whether the letters are likely not the ones that are drawn: codes of a font without a meaning.

    Of such words, most have capitals, digits or signs in their middle.
    """
    text = " ".join(segment.text for segment in segments)
    words = [word for word in text.split() if len(word) > 3]
    odd = sum(_ODD_WORD.search(word) is not None for word in words)
    foreign = sum(character > "\x7f" for character in text)
    return odd > 0.4 * len(words) or implausibility(text) > _MOST_BITS * foreign + 20


def _shows_pictures(page: Any) -> bool:
    """Whether anything is drawn on it that may be a picture of words: letters drawn as curves count."""
    kinds = (pypdfium2.raw.FPDF_PAGEOBJ_IMAGE, pypdfium2.raw.FPDF_PAGEOBJ_PATH)
    paths = 0
    for each in page.get_objects(max_depth=4):
        if each.type == kinds[0]:
            return True
        paths += each.type == kinds[1]
        if paths > 40:
            return True
    return False


def _recognised_lines(page: Any, reading: Reading) -> list[Line]:
    width, height = page.get_size()
    scale = _DOTS_PER_INCH / 72
    pixels = width * height * scale**2
    if pixels > _MOST_PIXELS:
        scale *= (_MOST_PIXELS / pixels) ** 0.5
    bitmap = page.render(scale=scale, grayscale=True)
    try:
        rows = memoryview(bitmap.buffer).cast("B")
        grey = b"".join(
            rows[at : at + bitmap.width] for at in range(0, bitmap.stride * bitmap.height, bitmap.stride)
        )
        found = recognise(grey, bitmap.width, bitmap.height, reading.languages, reading.confidence)
    finally:
        bitmap.close()
    lines = []
    for number, paragraph in enumerate(found.paragraphs):
        # Each paragraph as a column of its own: that is what keeps it apart from the next.
        column = (float(number), float(number))
        lines += [Line((line,), 0, at, 0, at, 0.0, False, column) for at, line in enumerate(paragraph)]
    return lines
