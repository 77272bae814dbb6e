"""EPUB books: their chapters in reading order, each passage with the number of its chapter."""

from __future__ import annotations

from typing import Any

from ragchat.documents.archive import Archive, beside
from ragchat.documents.document import Document
from ragchat.documents.encoding import Undecodable, decode
from ragchat.documents.html import put_html
from ragchat.documents.page import Page
from ragchat.documents.reading import Reading, UnreadableError
from ragchat.documents.xml import local_name, parsed

EXTRACTOR = "epub/1"

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"


def parse(data: bytes, name: str, digest: str, reading: Reading) -> Document:
    """A book as a document. Raises UnreadableError."""
    page = Page()
    gaps: list[str] = []
    archive = Archive(data, "an EPUB book")
    title, chapters = _contents(archive)
    locked = _encrypted(archive)
    if chapters and all(chapter in locked for chapter in chapters):
        raise UnreadableError(
            "it is encrypted (DRM)", "get it without copy protection, or list it in .ragchatignore"
        )
    for number, chapter in enumerate(chapters, start=1):
        page.begin_place("chapter", str(number))
        page.end_section()
        try:
            _put_chapter(archive, chapter, page)
        except UnreadableError as error:
            gaps.append(f"chapter {number}: {error.reason}")
        reading.progressed()
    document = page.finish(name=name, digest=digest, extractor=EXTRACTOR, title=title, gaps=tuple(gaps))
    if not document.text:
        raise UnreadableError(gaps[0] if gaps else "it holds no text")
    return document


def _contents(archive: Archive) -> tuple[str, list[str]]:
    """Title and the parts of the book in reading order."""
    if _CONTAINER not in archive.names:
        raise UnreadableError("it is a zip archive, but not an EPUB book")
    container = parsed(archive.read(_CONTAINER), "its container")
    package = next(
        (each.get("full-path", "") for each in container.iter() if local_name(each) == "rootfile"), ""
    )
    if not package:
        raise UnreadableError("its container does not say where its text is")
    book = parsed(archive.read(package), "its table of parts")
    items: dict[str, Any] = {}
    order: list[str] = []
    title = ""
    for each in book.iter():
        match local_name(each):
            case "item":
                items[each.get("id", "")] = each
            case "itemref":
                order.append(each.get("idref", ""))
            case "title" if not title:
                title = "".join(each.itertext())
    chapters = [
        beside(package, items[name].get("href", ""))
        for name in order
        if name in items and "html" in items[name].get("media-type", "")
    ]
    return title, chapters


def _encrypted(archive: Archive) -> set[str]:
    if _ENCRYPTION not in archive.names:
        return set()
    references = parsed(archive.read(_ENCRYPTION), "its list of encrypted parts").iter()
    return {beside("", each.get("URI", "")) for each in references if local_name(each) == "CipherReference"}


def _put_chapter(archive: Archive, chapter: str, page: Page) -> None:
    decoded = decode(archive.read(chapter))
    if isinstance(decoded, Undecodable):
        raise UnreadableError(decoded.reason, decoded.hint)
    put_html(decoded.text, page)
