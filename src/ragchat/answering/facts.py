"""What is known of one document: its file as it is now, and what the index has of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from ragchat.documents.document import Document
from ragchat.documents.reader import extractor_of, open_reader
from ragchat.index.intake import is_unchanged
from ragchat.index.protocol import Index
from ragchat.index.scan import note_path
from ragchat.settings import NotesSettings

FileState = Literal["as indexed", "changed since it was indexed", "no longer there", "not indexed"]
_MEGABYTE = 1_000_000
_OF_NO_ENCODING = ("pdf", "docx", "xlsx", "pptx", "opendocument", "epub", "eml", "rtf")
"""Their text is in no encoding of the file's own, and to read it again may take seconds."""


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """size: bytes, None with `modified` where there is no file. kind: what reads it, "markdown".

    encoding: in Python's spelling; "" where the format has none of its own. read_at: when the index last read
    the file. places: how many pages, slides, rows and the like, by kind. gaps: what could not be read.
    """

    name: str
    path: Path
    state: FileState
    kind: str
    size: int | None = None
    modified: datetime | None = None
    encoding: str = ""
    passages: int = 0
    sections: int = 0
    read_at: datetime | None = None
    day: str = ""
    tags: tuple[str, ...] = ()
    places: Mapping[str, int] | None = None
    gaps: tuple[str, ...] = ()


def read_facts(folder: Path, notes: NotesSettings, index: Index, name: str) -> DocumentFacts:
    """The facts of a document of the folder. Raises StorageFailed, IndexCorrupt as the index does."""
    path, known = note_path(folder, name), index.sources().get(name)
    kind = extractor_of(name).partition("/")[0]
    size, modified = _file(path)
    state: FileState = "no longer there"
    if size is not None and known is None:
        state = "not indexed"
    elif size is not None and known is not None:
        state = "as indexed" if is_unchanged(path, known.digest) else "changed since it was indexed"
    return DocumentFacts(
        name=name,
        path=path,
        state=state,
        kind=kind,
        size=size,
        modified=modified,
        encoding="" if size is None or kind in _OF_NO_ENCODING else _encoding(path, name, notes),
        passages=index.passages_of(name),
        sections=len({each.start for each in index.sections() if each.document == name and each.section}),
        read_at=_moment(known.checked_ns) if known is not None and known.checked_ns else None,
        day=known.day if known is not None else "",
        tags=known.tags if known is not None else (),
        places=Counter(place.kind for place in index.document_locators(name)),
        gaps=index.gaps().get(name, ()),
    )


def _file(path: Path) -> tuple[int | None, datetime | None]:
    try:
        status = path.stat()
    except OSError:
        return None, None
    return status.st_size, _moment(status.st_mtime_ns)


def _moment(nanoseconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9).astimezone()
    except (ValueError, OverflowError, OSError):  # no calendar has such a year
        return None


def _encoding(path: Path, name: str, notes: NotesSettings) -> str:
    with open_reader(notes) as read:
        found = read(path, name, max_bytes=int(notes.max_file_mb * _MEGABYTE))
    return found.encoding if isinstance(found, Document) else ""
