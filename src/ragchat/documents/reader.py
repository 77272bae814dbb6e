"""Files become documents: which format reads which file, and the ways in.

A new format is one file with a `parse` (as `Parser` or `IsolatedParser` in reading.py) and one line in
`_FORMATS`.
"""

from __future__ import annotations

import errno
import hashlib
import importlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from posixpath import splitext
from typing import TYPE_CHECKING, Protocol, cast

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reading import IsolatedParser, Parser, Reading, UnreadableError
from ragchat.settings import NotesSettings

if TYPE_CHECKING:
    from ragchat.documents.workers import WorkerPool


@dataclass(frozen=True, slots=True)
class _Format:
    """extractor: name and version; a new version makes this format's documents stale.

    isolated: read in a process of its own, because its library may hang or crash on a broken file.
    """

    extractor: str
    module: str
    suffixes: tuple[str, ...]
    isolated: bool = False

    @property
    def path(self) -> str:
        """Of the module, as it is imported."""
        return f"ragchat.documents.{self.module}"


_CODE = """
    json jsonl ndjson yaml yml toml ini cfg conf properties xml bib sql py pyi js mjs cjs ts tsx jsx java kt
    scala groovy c h cc cpp cxx hpp cs go rs swift rb php pl lua r jl sh bash zsh fish ps1 bat css scss less
    vue svelte hs ml ex exs erl clj el vim dart f90 asm nix tf proto graphql cmake gradle tcl sol zig awk diff
"""
# A file without a suffix is plain text: that is how README, TODO and many people's notes are named.
_FORMATS = (
    _Format("markdown/3", "markdown", (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd")),
    _Format("text/1", "plain", (".txt", ".text", ".log", "")),
    _Format("html/2", "html", (".html", ".htm", ".xhtml"), isolated=True),
    _Format("pdf/1", "pdf", (".pdf",), isolated=True),
    _Format("docx/1", "docx", (".docx", ".docm"), isolated=True),
    _Format("xlsx/1", "xlsx", (".xlsx", ".xlsm"), isolated=True),
    _Format("csv/1", "csv_table", (".csv", ".tsv", ".tab")),
    _Format("eml/2", "eml", (".eml",), isolated=True),
    _Format("epub/1", "epub", (".epub",), isolated=True),
    _Format("pptx/1", "pptx", (".pptx", ".pptm"), isolated=True),
    _Format("opendocument/1", "opendocument", (".odt", ".ods", ".odp"), isolated=True),
    _Format("rtf/1", "rtf", (".rtf",), isolated=True),
    _Format("notebook/1", "notebook", (".ipynb",)),
    _Format("subtitles/1", "subtitles", (".srt", ".vtt")),
    _Format("rst/1", "rst", (".rst", ".rest")),
    _Format("org/2", "org", (".org",)),
    _Format("latex/1", "latex", (".tex", ".ltx")),
    _Format("code/1", "code", tuple(f".{suffix}" for suffix in _CODE.split())),
)
_BY_SUFFIX = {suffix: form for form in _FORMATS for suffix in form.suffixes}


class Parse(Protocol):
    """Makes a document of a file's bytes, by the suffix of its name."""

    def __call__(self, data: bytes, name: str) -> Document | FailedDocument:
        """What could not be read is a failed document."""


def supported(name: str) -> bool:
    """Whether there is a format for a file of this name."""
    return _suffix(name) in _BY_SUFFIX


def extractor_of(name: str) -> str:
    """Name and version of what reads a file of this name, "markdown/3"; "" where nothing does."""
    form = _BY_SUFFIX.get(_suffix(name))
    return form.extractor if form else ""


class Read(Protocol):
    """`read_document`, with what it needs for files that are read in processes of their own."""

    def __call__(self, path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        """A file that cannot be read, or is over `max_bytes`, is a failed document."""


@contextmanager
def open_reader(notes: NotesSettings) -> Iterator[Read]:
    """`read_document` under the limits of the settings, what is isolated in processes that end with it."""
    pools: list[WorkerPool] = []

    def parse(data: bytes, name: str) -> Document | FailedDocument:
        form = _BY_SUFFIX.get(_suffix(name))
        if form is None or not form.isolated:
            return parse_document(data, name)
        if not pools:
            pools.append(_pool(notes))
        digest = hashlib.sha256(data).hexdigest()
        return pools[0].parse(form.path, form.extractor, data, name, digest)

    def read(path: Path, name: str, *, max_bytes: int) -> Document | FailedDocument:
        return read_document(path, name, max_bytes=max_bytes, parse=parse)

    try:
        yield read
    finally:
        for pool in pools:
            pool.close()


def _pool(notes: NotesSettings) -> WorkerPool:
    # Loaded only here: a run over text starts no process.
    from ragchat.documents.workers import Limits, WorkerPool

    return WorkerPool(
        Limits(notes.reader_seconds, notes.reader_memory_mb, notes.ocr_languages, notes.ocr_confidence)
    )


def read_document(
    path: Path, name: str, *, max_bytes: int, parse: Parse | None = None
) -> Document | FailedDocument:
    """Read one file. Links are not followed, and nothing but a regular file is opened.

    A file that cannot be read, or is over `max_bytes`, is a failed document. parse: `parse_document` unless
    something else is to do it.
    """
    try:
        data = _bytes_of(path, max_bytes)
    except _NoNoteError as error:
        return FailedDocument(name, error.reason, error.hint, "", extractor_of(name))
    except OSError as error:
        reason = f"it cannot be read: {error.strerror or error}"
        return FailedDocument(name, reason, _HINTS.get(error.errno or 0, _LOOK), "", extractor_of(name))
    return (parse or parse_document)(data, name)


def parse_document(data: bytes, name: str, reading: Reading | None = None) -> Document | FailedDocument:
    """A file's bytes as a document, by the suffix of its name, read in this process without any limits."""
    digest = hashlib.sha256(data).hexdigest()
    form = _BY_SUFFIX.get(_suffix(name))
    if form is None:
        reason = f"there is no reader for {_suffix(name)} files"
        return FailedDocument(name, reason, "convert it to Markdown, text or HTML", digest)
    # Imported when first needed: the screen's first frame must not wait for an HTML parser.
    module = importlib.import_module(form.path)
    try:
        if form.isolated:
            return cast(IsolatedParser, module.parse)(data, name, digest, reading or Reading())
        return cast(Parser, module.parse)(data, name, digest)
    except UnreadableError as error:
        return FailedDocument(name, error.reason, error.hint, digest, form.extractor)
    except Exception as error:  # one file that a parser chokes on must not stop the others
        reason = f"the {form.extractor} reader failed on it: {type(error).__name__}"
        return FailedDocument(
            name, reason, "please report it, with the file if you can", digest, form.extractor
        )


_LOOK = "look whether the file opens elsewhere, then: ragchat index --retry"
_HINTS = {
    errno.EACCES: "give yourself the right to read it, then: ragchat index --retry",
    errno.EPERM: "give yourself the right to read it, then: ragchat index --retry",
    errno.ENOENT: "it has gone since the folder was listed: ragchat index",
    errno.ELOOP: "it is a link: put the note itself into the folder",
}
_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class _NoNoteError(Exception):
    """The path leads to nothing that should be read."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


def _bytes_of(path: Path, max_bytes: int) -> bytes:
    # Opened first and looked at then, so that nobody can put another file in its place in between; without
    # blocking, because a pipe under a note's name would be waited for forever.
    descriptor = os.open(path, os.O_RDONLY | _NOT_FOLLOWED)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise _NoNoteError("it is no regular file", "list it in .ragchatignore")
        data = file.read(max_bytes + 1) if status.st_size <= max_bytes else b""
        if status.st_size > max_bytes or len(data) > max_bytes:
            size = max(status.st_size, len(data))
            raise _NoNoteError(
                f"it has {size / 1e6:.1f} MB, more than the limit of {max_bytes / 1e6:.1f} MB",
                "raise notes.max_file_mb in the settings, or list it in .ragchatignore",
            )
    return data


def _suffix(name: str) -> str:
    # Asked for every file of every run: splitext takes three times as long, PurePosixPath fifteen times.
    stem, _, suffix = name.rpartition(".")
    if not stem or "/" in suffix or stem[-1] in "/.":  # none, or perhaps only dots before it
        return splitext(name)[1].lower()
    return f".{suffix.lower()}"
