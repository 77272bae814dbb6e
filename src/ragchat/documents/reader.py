"""Files become documents: which format reads which file, and the two ways in.

A new format is one file with `parse(data, name, digest)` and one line in `_FORMATS`.
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol, cast

from ragchat.documents.document import Document, FailedDocument


@dataclass(frozen=True, slots=True)
class _Format:
    """extractor: name and version; a new version makes this format's documents stale."""

    extractor: str
    module: str
    suffixes: tuple[str, ...]


# A file without a suffix is plain text: that is how README, TODO and many people's notes are named.
_FORMATS = (
    _Format("markdown/1", "markdown", (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")),
    _Format("text/1", "plain", (".txt", ".text", ".log", "")),
    _Format("html/1", "html", (".html", ".htm", ".xhtml")),
)
_BY_SUFFIX = {suffix: form for form in _FORMATS for suffix in form.suffixes}


class _Parser(Protocol):
    def __call__(self, data: bytes, name: str, digest: str) -> Document | FailedDocument: ...


def supported(name: str) -> bool:
    """Whether there is a format for a file of this name."""
    return PurePosixPath(name).suffix.lower() in _BY_SUFFIX


def extractor_of(name: str) -> str:
    """Name and version of what reads a file of this name, "markdown/1"; "" where nothing does."""
    form = _BY_SUFFIX.get(PurePosixPath(name).suffix.lower())
    return form.extractor if form else ""


def read_document(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
    """Read one file. A file that cannot be read, or is over `max_bytes`, is a failed document."""
    data = path.read_bytes()
    if len(data) > max_bytes:
        return FailedDocument(name, "too large", "", "", extractor_of(name))
    return parse_document(data, name)


def parse_document(data: bytes, name: str) -> Document | FailedDocument:
    """A file's bytes as a document, by the suffix of its name."""
    digest = hashlib.sha256(data).hexdigest()
    form = _BY_SUFFIX.get(PurePosixPath(name).suffix.lower())
    if form is None:
        suffix = PurePosixPath(name).suffix
        return FailedDocument(name, f"no reader for {suffix} files", "convert it to Markdown or text", digest)
    # Imported when first needed: the screen's first frame must not wait for an HTML parser.
    module = importlib.import_module(f"ragchat.documents.{form.module}")
    return cast(_Parser, module.parse)(data, name, digest)
