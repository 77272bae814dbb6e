"""PowerPoint presentations: each slide a section with its number, its notes behind it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import pptx
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.exc import PackageNotFoundError

from ragchat.documents.archive import Archive
from ragchat.documents.document import Document
from ragchat.documents.page import Page
from ragchat.documents.reading import NOTHING_TO_DO, Reading, UnreadableError
from ragchat.documents.tables import naming_rows

EXTRACTOR = "pptx/1"

_DEEPEST = 20


def parse(data: bytes, name: str, digest: str, reading: Reading) -> Document:
    """A .pptx file as a document. Raises UnreadableError."""
    page = Page()
    archive = Archive(data, "a PowerPoint presentation")
    if "ppt/presentation.xml" not in archive.names:
        raise UnreadableError("it is a zip archive, but not a PowerPoint presentation")
    try:
        slides = pptx.Presentation(io.BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise UnreadableError(f"it is damaged ({type(error).__name__})") from error
    for number, slide in enumerate(slides.slides, start=1):
        page.begin_place("slide", str(number))
        page.end_section()
        _put_slide(slide, page)
        reading.progressed()
    title = slides.core_properties.title or ""
    title = "" if title.strip().casefold() == "powerpoint presentation" else title
    document = page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=title)
    if not document.text:
        raise UnreadableError("none of its slides holds any text", NOTHING_TO_DO)
    return document


def _put_slide(slide: Any, page: Page) -> None:
    title = slide.shapes.title
    words = " ".join(title.text_frame.text.split()) if title is not None else ""
    if words:
        page.put_block("heading", words, level=1)
    others = [shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id]
    for shape in _leaves(others, 0):
        if getattr(shape, "has_table", False):
            rows = [[cell.text for cell in row.cells] for row in shape.table.rows]
            page.add_table(rows, naming_rows=naming_rows(rows))
        elif shape.has_text_frame:
            _put_text(shape.text_frame, page)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        _put_text(slide.notes_slide.notes_text_frame, page)


def _leaves(shapes: Iterable[Any], depth: int) -> Iterator[Any]:
    """Shapes from top to bottom and left to right, groups opened."""
    for shape in sorted(shapes, key=lambda each: (each.top or 0, each.left or 0)):
        if shape.shape_type == MSO_SHAPE_TYPE.GROUP and depth < _DEEPEST:
            yield from _leaves(shape.shapes, depth + 1)
        else:
            yield shape


def _put_text(frame: Any, page: Page) -> None:
    paragraphs = [" ".join(paragraph.text.split()) for paragraph in frame.paragraphs]
    filled = [words for words in paragraphs if words]
    for words in filled:
        page.put_block("list_item" if len(filled) > 1 else "paragraph", words)
