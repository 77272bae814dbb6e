"""What lies in a notes folder: its notes, and what was passed over and why.

Links are never followed: what one points to inside the folder is met under its own name, and what one points
to outside is not the user's notes. So loops cannot arise and no note comes twice.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ragchat.errors import FolderMissing
from ragchat.index.ignore import IGNORE_FILES, IgnoreRules
from ragchat.index.progress import Survey
from ragchat.paths import own_dirs
from ragchat.settings import NotesSettings

_MEGABYTE = 1_000_000
_LONGEST_SUFFIX = 12
_ENTRIES_PER_NOTE = 10
"""A survey stops after this many times `confirm_files` entries, notes or not."""


class NoteFile(NamedTuple):
    """A file that may be read. A tuple, because ten thousand are made for every question.

    name: relative to the notes folder, with `/`, as it is on disk.
    location: its path, as the locale spells it.
    changed_ns: when anything of the file last changed, which no program can put back (on Windows: its birth).
    """

    name: str
    location: str
    size: int
    modified_ns: int
    changed_ns: int = 0

    @property
    def path(self) -> Path:
        """Where it lies. Made when asked for: of ten thousand notes few are opened."""
        return Path(self.location)


@dataclass(slots=True)
class Scan:
    """Everything found, notes by name.

    skipped: why -> how many.
    unreadable: folders that could not be listed, as "a/b/"; nothing is known of what lies below them.
    empty: folders without any entry, as "a/b/"; a file system that is not mounted looks the same.
    """

    notes: list[NoteFile] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    entries: int = 0


def note_path(folder: Path, name: str) -> Path:
    """Where the note of this name lies, also under a locale that cannot spell it."""
    return folder / os.fsdecode(name.encode())


def scan(folder: Path, notes: NotesSettings, supported: Callable[[str], bool]) -> Scan:
    """All notes in the folder. Raises FolderMissing."""
    found = Scan()
    for note in _walk(folder, notes, supported, found):
        found.notes.append(note)
    found.notes.sort(key=attrgetter("name"))
    return found


def survey(folder: Path, notes: NotesSettings, supported: Callable[[str], bool]) -> Survey:
    """Size and number of the notes before anything is read; stops counting a huge tree early.

    Raises FolderMissing.
    """
    found = Scan()
    files, size, stopped = 0, 0, ""
    for note in _walk(folder, notes, supported, found, most_entries=_ENTRIES_PER_NOTE * notes.confirm_files):
        files += 1
        size += note.size
        if files > notes.confirm_files:
            stopped = f"it holds more than {notes.confirm_files:,} notes"
        elif size > notes.confirm_mb * _MEGABYTE:
            stopped = f"it holds more than {notes.confirm_mb:,.0f} MB of notes"
        if stopped:
            break
    if not stopped and found.entries >= _ENTRIES_PER_NOTE * notes.confirm_files:
        stopped = f"it holds more than {found.entries:,} files, {files:,} of them notes so far"
    reasons = [reason for reason in (_standing(folder), stopped) if reason]
    return Survey(files=files, bytes=size, skipped=dict(found.skipped), confirm="; ".join(reasons))


def _standing(folder: Path) -> str:
    """Why a folder is asked about whatever it holds."""
    real = folder.resolve()
    if real == Path(real.anchor):
        return "this is the root of a file system"
    try:
        home = Path.home().resolve()
    except RuntimeError:
        return ""
    if real == home:
        return "this is your home folder"
    return "your home folder lies in it" if home.is_relative_to(real) else ""


def _walk(
    folder: Path,
    notes: NotesSettings,
    supported: Callable[[str], bool],
    found: Scan,
    most_entries: int | None = None,
) -> Iterator[NoteFile]:
    root = folder.resolve()
    if not root.is_dir():
        raise FolderMissing(
            f"{folder} is {'no folder' if root.exists() else 'not there'}",
            hint="name a folder of notes: ragchat FOLDER",
        )
    ours = {str(path) for path in own_dirs(root)}
    todo = [("", root, IgnoreRules.from_settings(notes.exclude))]
    while todo:
        prefix, path, rules = todo.pop()
        entries = _list(prefix, path, found)
        rules = rules.within(prefix, _ignore_files(entries, path))
        inner: list[tuple[str, Path, IgnoreRules]] = []
        for entry in entries:
            if most_entries is not None and found.entries >= most_entries:
                return
            found.entries += 1
            name = _portable(prefix, entry.name)
            if name is None:
                found.skipped["name is not UTF-8"] += 1
            elif entry.path in ours:
                found.skipped["ragchat's own folder"] += 1
            elif reason := _passed_over(entry, name, root, rules, supported):
                found.skipped[reason] += 1
            elif entry.is_dir(follow_symlinks=False):
                inner.append((name + "/", Path(entry.path), rules))
            elif (note := _note(entry, name)) is not None:
                yield note
        todo += reversed(inner)


def _list(prefix: str, path: Path, found: Scan) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(path) as listing:
            entries = sorted(listing, key=attrgetter("name"))
    except OSError as error:
        if not isinstance(error, FileNotFoundError):  # else it vanished since its parent was listed
            found.skipped["unreadable folder"] += 1
            found.unreadable.append(prefix)
        return []
    if not entries:
        found.empty.append(prefix)
    return entries


def _ignore_files(entries: Sequence[os.DirEntry[str]], path: Path) -> list[Path]:
    there = {entry.name for entry in entries if entry.name in IGNORE_FILES and entry.is_file()}
    return [path / name for name in IGNORE_FILES if name in there]


def _portable(prefix: str, name: str) -> str | None:
    """The name as UTF-8 text whatever the locale; None where its bytes are something else."""
    if name.isascii():
        return prefix + name
    try:
        return prefix + os.fsencode(name).decode()
    except UnicodeError:
        return None


def _passed_over(
    entry: os.DirEntry[str], name: str, root: Path, rules: IgnoreRules, supported: Callable[[str], bool]
) -> str:
    """Why this entry is neither a note nor a folder to look into; "" when it is."""
    if entry.name.startswith("."):
        return "hidden"
    if entry.is_symlink():
        return _about_link(entry, root)
    if is_temporary(entry.name):
        return "temporary"
    is_folder = entry.is_dir(follow_symlinks=False)
    if rules.ignores(name + "/" if is_folder else name):
        return "ignored"
    if is_folder:
        return ""
    if not entry.is_file(follow_symlinks=False):
        return "no ordinary file"
    if not supported(name):
        suffix = PurePosixPath(name).suffix.lower()
        return f"unsupported {suffix if len(suffix) <= _LONGEST_SUFFIX else 'suffix'}".rstrip()
    return ""


def is_temporary(name: str) -> bool:
    """What editors and office programs put beside a file while it is open."""
    return name.endswith("~") or name.startswith("~$") or (name.startswith("#") and name.endswith("#"))


def _about_link(entry: os.DirEntry[str], root: Path) -> str:
    try:
        target = Path(os.path.realpath(entry.path, strict=True))
    except OSError as error:
        return "link loop" if error.errno == errno.ELOOP else "broken link"
    if not target.is_relative_to(root):
        # The folder above the notes holds them too: following it would never end.
        return "link loop" if root.is_relative_to(target) else "link out of the folder"
    if Path(entry.path).is_relative_to(target):
        return "link loop"
    return "link to another folder" if target.is_dir() else "link to another note"


def _note(entry: os.DirEntry[str], name: str) -> NoteFile | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None  # it vanished since the folder was listed
    return NoteFile(name, entry.path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
