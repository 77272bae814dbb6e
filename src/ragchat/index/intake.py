"""One file of the folder, read: a document, a failure, or nothing because it vanished.

A file may change or vanish at any moment. Its facts are taken before its content is read, so that a later
change shows as a difference in the next run.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ragchat.documents.document import Document, FailedDocument
from ragchat.errors import FolderMissing, RagchatError
from ragchat.index.scan import NoteFile
from ragchat.index.source import Source


class Reader(Protocol):
    """Reads one file, as `ragchat.documents.reader.read_document` does."""

    def __call__(self, path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        """A file that cannot be read, or is over `max_bytes`, is a failed document."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a file, with its facts from before it was read."""

    result: Document | FailedDocument
    source: Source


def take_in(note: NoteFile, read: Reader, extractor: str, max_bytes: int) -> Taken | None:
    """Read one file; None when it is no longer there. One file's trouble is never another's."""
    checked_ns = time.time_ns()
    try:
        status = note.path.stat()
        result = read(note.path, note.name, max_bytes=max_bytes)
        if isinstance(result, Document):
            result.text.encode()  # what cannot be kept must fail alone, too
    except FileNotFoundError:
        return None
    except RagchatError:
        raise
    except OSError as error:
        return _failed(note, f"cannot be read: {error.strerror or error}", "check its permissions", extractor)
    except Exception as error:
        return _failed(
            note, unexpected(error), "the other notes are not affected; please report this", extractor
        )
    if isinstance(result, FailedDocument) and not os.path.lexists(note.path):
        return None
    source = Source(
        name=note.name,
        size=status.st_size,
        modified_ns=status.st_mtime_ns,
        digest=result.digest,
        extractor=extractor,
        state="indexed" if isinstance(result, Document) else "failed",
        checked_ns=checked_ns,
    )
    if isinstance(result, Document):
        source = source._replace(tags=result.tags, dated=result.dated)
    return Taken(result, source)


def require_folder(folder: Path) -> None:
    """A note that vanished is ordinary; all of them at once were unmounted rather than deleted.

    Raises FolderMissing when there is nothing any more.
    """
    try:
        if any(folder.iterdir()):
            return
    except OSError:
        pass
    raise FolderMissing(
        f"{folder} went away while it was indexed",
        hint="what was done is kept; when the folder is back: ragchat index",
    )


def has_digest(note: NoteFile, digest: str) -> bool:
    """Whether the file's bytes are still the ones of this sha256; False too when it cannot be read."""
    return is_unchanged(note.path, digest)


def is_unchanged(path: Path, digest: str) -> bool:
    """The same for a path; False for what is no regular file, which a pipe would keep waiting."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return False


def touched(note: NoteFile, known: Source) -> Source | None:
    """The known source with the file's facts of now, to be called before its content is compared."""
    checked_ns = time.time_ns()
    try:
        status = note.path.stat()
    except OSError:
        return None
    return known._replace(size=status.st_size, modified_ns=status.st_mtime_ns, checked_ns=checked_ns)


def unexpected(error: Exception) -> str:
    """A reason, in one line, for what no reader or chunker foresaw."""
    return f"could not be read ({type(error).__name__}: {' '.join(str(error).split())[:200]})"


def _failed(note: NoteFile, reason: str, hint: str, extractor: str) -> Taken:
    failure = FailedDocument(note.name, reason, hint, "", extractor)
    return Taken(failure, Source(note.name, note.size, note.modified_ns, "", extractor, "failed"))
