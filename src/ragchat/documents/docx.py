"""Word documents: mammoth makes HTML of them by their styles, and that is read as any page is."""

from __future__ import annotations

import io

import mammoth

from ragchat.documents.archive import Archive
from ragchat.documents.document import Document
from ragchat.documents.html import put_html
from ragchat.documents.page import Page
from ragchat.documents.reading import NOTHING_TO_DO, Reading, UnreadableError
from ragchat.documents.xml import parsed

EXTRACTOR = "docx/1"

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => p:fresh
p[style-name='Heading 7'] => h6:fresh
p[style-name='Heading 8'] => h6:fresh
p[style-name='Heading 9'] => h6:fresh
"""


def parse(data: bytes, name: str, digest: str, _reading: Reading) -> Document:
    """A .docx file as a document. Raises UnreadableError."""
    page = Page()
    archive = Archive(data, "a Word document")
    # Looked at before mammoth does: it has no limits of its own.
    parsed(archive.read(_main_part(archive)), "its text")
    made = mammoth.convert_to_html(
        io.BytesIO(data), style_map=_STYLES, convert_image=mammoth.images.img_element(_without_pixels)
    )
    put_html(made.value, page)
    document = page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=_title(archive))
    if not document.text:
        raise UnreadableError("it holds no text", NOTHING_TO_DO)
    return document


def _main_part(archive: Archive) -> str:
    """Word calls it word/document.xml, other programs may not."""
    there = sorted(
        name for name in archive.names if name.startswith("word/document") and name.endswith(".xml")
    )
    if not there:
        raise UnreadableError("it is a zip archive, but not a Word document")
    return there[0]


def _without_pixels(_image: object) -> dict[str, str]:
    """mammoth adds the description, which is all that can be read."""
    return {"src": ""}


def _title(archive: Archive) -> str:
    """Only a title that the author gave; "" for none."""
    if "docProps/core.xml" not in archive.names:
        return ""
    try:
        core = parsed(archive.read("docProps/core.xml"), "its properties")
    except UnreadableError:
        return ""
    return (core.findtext("{http://purl.org/dc/elements/1.1/}title") or "").strip()
