"""What `ragchat status` and the screen tell about one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ragchat.answering.coverage import Changes
from ragchat.documents.document import FailedDocument
from ragchat.errors import FolderMissing
from ragchat.index.protocol import Index, IndexStamp
from ragchat.index.source import Source
from ragchat.retrieval.trace import Threshold

if TYPE_CHECKING:
    from ragchat.embedding.embedder import EmbedderStamp
    from ragchat.index.scan import Scan
    from ragchat.settings import Settings


@dataclass(frozen=True, slots=True)
class FolderStatus:
    """Counters count what is. skipped: why -> how many. stamp and threshold: None before indexing.

    indexed: up to date. stale: made by another embedder, chunker or extractor, or changed or deleted since.
    notice: one line, where the embedder cannot read these notes.
    gaps: indexed documents of which something could not be read, with what and why.
    disk_bytes: what the index takes on this machine, 0 for a shared one.
    library: where a shared index lies, without secrets; "" for one on this machine.
    outdated: names of what is stale for another reason than that.
    made_otherwise: by another embedder or chunker than the settings ask for; only a rebuild makes it usable.
    """

    folder: Path
    indexed: int
    failed: int
    stale: int
    skipped: Mapping[str, int]
    failures: tuple[FailedDocument, ...]
    chunks: int
    stamp: IndexStamp | None
    extractors: tuple[str, ...]
    threshold: Threshold | None
    notice: str = ""
    gaps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    library: str = ""
    made_otherwise: bool = False
    outdated: frozenset[str] = frozenset()
    disk_bytes: int = 0


def read_status(
    folder: Path,
    index: Index | None,
    settings: Settings,
    *,
    chunker: str,
    expected_stamp: Callable[[], EmbedderStamp | None],
) -> FolderStatus:
    """The state of the index held against the folder and the settings; reads no note, loads no model.

    Raises IndexCorrupt where no question could be answered.

    expected_stamp: what the configured embedder would give, None where that cannot be told.
    """
    from ragchat.retrieval.legibility import legibility_notice
    from ragchat.retrieval.threshold import current_threshold

    # A shared library may have been made of a folder on another machine.
    found = None if settings.index.backend else _scan(folder, settings)
    skipped = dict(found.skipped) if found else {}
    if index is None or (stamp := index.stamp) is None:
        failures = tuple(index.failures()) if index else ()
        return FolderStatus(
            folder,
            0,
            len(failures),
            0,
            skipped,
            failures,
            0,
            None,
            (),
            None,
            library=shared_library(settings),
        )
    index.snapshot()  # files that are damaged or missing must not pass for an index that answers
    sources = index.sources()
    kept = [source for source in sources.values() if source.state != "failed"]
    wanted = expected_stamp()
    made_otherwise = stamp.chunker != chunker or (wanted is not None and wanted != stamp.embedder)
    outdated = frozenset() if made_otherwise else frozenset(_outdated(index.sources(), found))
    stale = len(kept) if made_otherwise else len(outdated)
    return FolderStatus(
        folder=folder,
        indexed=len(kept) - stale,
        failed=len(sources) - len(kept),
        stale=stale,
        skipped=skipped,
        failures=tuple(index.failures()),
        chunks=index.chunk_count(),
        stamp=stamp,
        extractors=tuple(sorted({source.extractor for source in kept})),
        threshold=current_threshold(index, settings.retrieval),
        notice=legibility_notice(index, folder),
        gaps=index.gaps(),
        made_otherwise=made_otherwise,
        outdated=outdated,
        library=shared_library(settings),
    )


def shared_library(settings: Settings) -> str:
    """The library of the settings in one line, without asking its server; "" where the index is a file."""
    if not settings.index.backend:
        return ""
    from ragchat.index.postgres.connection import described, is_local

    away = "" if is_local(settings.index.backend) else "; notes leave this machine"
    return f"{settings.index.library} in {described(settings.index.backend)}{away}"


def changes_since(folder: Path, index: Index, settings: Settings) -> Changes:
    """What the next update would find; nothing where the folder is away. Reads no note."""
    found = _scan(folder, settings)
    if found is None or not found.notes:
        return Changes()
    known = index.sources()
    return Changes(len(_outdated(known, found)), sum(note.name not in known for note in found.notes))


def _scan(folder: Path, settings: Settings) -> Scan | None:
    """None where the folder is away: its index is kept and can still be told about."""
    from ragchat.documents.reader import supported
    from ragchat.index.scan import scan

    try:
        return scan(folder, settings.notes, supported)
    except FolderMissing:
        return None


def _outdated(known: Mapping[str, Source], found: Scan | None) -> set[str]:
    """Names of the documents that the next update will read again or forget."""
    from ragchat.documents.reader import extractor_of

    there = {note.name: note for note in found.notes} if found else {}
    outdated = set()
    for name, source in known.items():
        if source.state == "failed":
            continue
        note = there.get(name)
        # An empty folder is more likely not mounted than emptied: the index is kept, and so is its standing.
        changed = bool(there) and (
            note is None or (note.size, note.modified_ns) != (source.size, source.modified_ns)
        )
        if changed or source.state == "stale" or source.extractor != extractor_of(name):
            outdated.add(name)
    return outdated
