"""What one run of the indexer has to do: the folder as it is, held against what the index knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragchat.index.scan import NoteFile, Scan
from ragchat.index.source import Source

RACY_NS = 2_000_000_000
"""A file modified this shortly before it was read may be edited again under the same time (FAT keeps 2 s)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """read: must be read. check: perhaps edited, their digests tell. gone: no longer in the folder.

    unchanged: how many files are as the index knows them.
    warning: why documents that are not to be found were kept, or "".
    """

    read: Sequence[NoteFile]
    check: Sequence[NoteFile]
    gone: Sequence[str]
    unchanged: int
    warning: str


def plan_update(
    found: Scan, sources: Mapping[str, Source], extractor_of: Callable[[str], str], *, retry: bool
) -> Plan:
    """What has to be done to bring the index up to date. retry: read again what failed, whole or in part."""
    read: list[NoteFile] = []
    check: list[NoteFile] = []
    for note in found.notes:
        known = sources.get(note.name)
        if known is None or _must_be_read(known, extractor_of(note.name), retry=retry):
            read.append(note)
        elif _may_have_changed(note, known):
            check.append(note)
    gone, warning = _gone(found, sources)
    return Plan(read, check, gone, len(found.notes) - len(read) - len(check), warning)


def plan_rebuild(found: Scan, sources: Mapping[str, Source]) -> Plan:
    """Everything is read again."""
    gone, warning = _gone(found, sources)
    return Plan(found.notes, [], gone, 0, warning)


def warning_of(found: Scan, sources: Mapping[str, Source]) -> str:
    """Why documents of these sources that are not to be found would be kept, or ""."""
    return _gone(found, sources)[1]


def _must_be_read(known: Source, extractor: str, *, retry: bool) -> bool:
    match known.state:
        case "stale":
            return True
        case "failed":
            # Without a digest it was never read: new permissions leave no trace in a file's time.
            return retry or not known.digest or known.extractor != extractor
        case "indexed":
            return known.extractor != extractor or (retry and known.has_gaps)


def _may_have_changed(note: NoteFile, known: Source) -> bool:
    same = (note.size, note.modified_ns) == (known.size, known.modified_ns)
    # A time can be put back after an edit; that itself is a change, which the system notes.
    latest = max(known.modified_ns, note.changed_ns)
    return not same or known.checked_ns - latest < RACY_NS


def _gone(found: Scan, sources: Mapping[str, Source]) -> tuple[list[str], str]:
    """Documents that are no longer in the folder, unless the folder itself seems to be away."""
    there = {note.name for note in found.notes}
    gone = [name for name in sources if name not in there]
    if gone and not there:
        return [], f"there are no notes in the folder now: the index of {_documents(gone)} is kept"
    unreadable = [name for name in gone if name.startswith(tuple(found.unreadable))]
    if unreadable:
        gone = sorted(set(gone) - set(unreadable))
    unmounted = [name for name in gone if name.startswith(tuple(found.empty))]
    # An emptied folder is ordinary; one that held most of the notes is more likely not mounted.
    if 2 * len(unmounted) > len(sources):
        gone = sorted(set(gone) - set(unmounted))
        where = next(prefix for prefix in found.empty if unmounted[0].startswith(prefix))
        return (
            gone,
            f"{where} is empty now: {_documents(unmounted)} kept until that folder is deleted",
        )
    if unreadable:
        where = next(prefix for prefix in found.unreadable if unreadable[0].startswith(prefix))
        return gone, f"{where or 'the folder'} cannot be read: {_documents(unreadable)} kept"
    return gone, ""


def _documents(names: Sequence[str]) -> str:
    return "1 document" if len(names) == 1 else f"{len(names):,} documents"
