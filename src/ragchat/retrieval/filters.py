"""Which notes a question is asked of: a folder, a file, a tag, a range of days.

A filter is turned into a set of documents before anything is searched, never applied to what was found: the
best of the notes that are left are compared with the same threshold. Its statistics stay the folder's too: a
word is as rare, and an unrelated passage as far, as it is among all notes, so that scores and distances mean
the same with a filter as without one.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ragchat.errors import UsageError
from ragchat.index.protocol import Coverage, Scope
from ragchat.index.source import Source

if TYPE_CHECKING:
    from ragchat.retrieval.trace import RetrievalTrace

_DATE = re.compile(r"(?:19|20)\d\d(?:-\d\d(?:-\d\d)?)?", re.ASCII)
_EVERYTHING = frozenset({"", ".", "/"})
_MOST_NAMED = 6
_MOST_COMPARED = 20_000
"""Names that an unknown one is compared with."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Nothing set: all notes. Each kind narrows what the others leave.

    within: folders, files or beginnings of names, in one of which a note must lie; without: in none.
    tags: all of which it must have; not_tags: none. A tag includes those below it: tax, tax/2025.
    after: its day is this one or later; before: earlier than this one. "2025", "2025-01", "2025-01-31".
    """

    within: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    not_tags: tuple[str, ...] = ()
    after: str = ""
    before: str = ""

    def __bool__(self) -> bool:
        return self != NO_FILTERS

    def __str__(self) -> str:
        """As it may be typed in a question."""
        words = [f"{mark}{_quoted(value)}" for mark, values in self._listed() for value in values]
        words += [f"{mark}:{day}" for mark, day in (("after", self.after), ("before", self.before)) if day]
        return " ".join(words)

    def __and__(self, other: Filters) -> Filters:
        """Both together; of two days the narrower."""
        return Filters(
            self.within + other.within,
            self.without + other.without,
            self.tags + other.tags,
            self.not_tags + other.not_tags,
            max(self.after, other.after),
            min(filter(None, (self.before, other.before)), default=""),
        )

    def _listed(self) -> Iterable[tuple[str, tuple[str, ...]]]:
        return (
            ("in:", self.within),
            ("-in:", self.without),
            ("tag:", self.tags),
            ("-tag:", self.not_tags),
        )


NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What a filter leaves of the notes. outside: how many it leaves out, by their state."""

    filters: Filters
    scope: Scope
    outside_indexed: int = 0
    outside_failed: int = 0

    def told_in(self, trace: RetrievalTrace) -> RetrievalTrace:
        """The trace with the filter and with the coverage of what it left."""
        if not self.filters:
            return trace
        coverage = _without(trace.coverage, self.outside_indexed, self.outside_failed)
        return replace(trace, filters=self.filters, coverage=coverage)


def day_of(text: str, of: str) -> str:
    """A year, a month or a day as it is compared. of: who says it, "after:". Raises UsageError."""
    with suppress(ValueError):
        if _DATE.fullmatch(text) and date.fromisoformat(f"{text}-01-01"[:10]):
            return text
    raise UsageError(f"{of}{text} is no date", hint=f"write {of}2025, {of}2025-01 or {of}2025-01-31")


def narrow(filters: Filters, sources: Mapping[str, Source]) -> Narrowed:
    """The notes that a filter leaves of these.

    Raises UsageError, with the nearest names, for a folder, file or tag that there is not.
    """
    if not filters:
        return Narrowed(filters, Scope())
    if not sources:  # nothing is known yet: what comes meanwhile is not asked either
        return Narrowed(filters, Scope(documents=frozenset()))
    names = _Names(sources)
    tests: list[Callable[[Source], bool]] = []
    if filters.within:
        inside = frozenset[str]().union(*(names.below(value, "in:") for value in filters.within))
        tests.append(lambda source: source.name in inside)
    if filters.without:
        barred = frozenset[str]().union(*(names.below(value, "-in:") for value in filters.without))
        tests.append(lambda source: source.name not in barred)
    if filters.tags or filters.not_tags:
        tagged = _Tags(sources)
        wanted = [tagged.with_tag(tag, "tag:") for tag in filters.tags]
        unwanted = [tagged.with_tag(tag, "-tag:") for tag in filters.not_tags]
        tests.append(lambda source: all(source.name in each for each in wanted))
        tests.append(lambda source: not any(source.name in each for each in unwanted))
    if after := filters.after:
        tests.append(lambda source: source.day >= after)
    if before := filters.before:
        tests.append(lambda source: "" < source.day < before)
    left = frozenset(name for name, source in sources.items() if all(test(source) for test in tests))
    outside = [source for name, source in sources.items() if name not in left]
    failed = sum(source.state == "failed" for source in outside)
    return Narrowed(filters, _scope(filters, left, sources), len(outside) - failed, failed)


def folders_of(names: Iterable[str]) -> list[str]:
    """Every folder that a note lies in, "house/", sorted."""
    return sorted({f"{parent}/" for name in names for parent in PurePosixPath(name).parents if parent.name})


def folded(text: str) -> str:
    """As names and tags are compared: Unicode's composed form, no case."""
    return unicodedata.normalize("NFC", text).casefold()


def nearest(text: str, candidates: Collection[str]) -> list[str]:
    """Up to three that resemble it most."""
    known = {folded(each): each for each in list(candidates)[:_MOST_COMPARED]}
    return [known[key] for key in difflib.get_close_matches(folded(text), known, n=3, cutoff=0.5)]


class _Names:
    """Notes by what their names say."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name: folded(name) for name in names}

    def below(self, value: str, of: str) -> frozenset[str]:
        """The notes in a folder, or of a name, or whose name begins so; the first reading that finds any."""
        value = value.removeprefix("./")
        if value in _EVERYTHING:
            return frozenset(self._names)
        key = folded(value)
        folder = f"{key.rstrip('/')}/"
        readings: tuple[Callable[[str, str], bool], ...] = (
            lambda name, _: name == value or name.startswith(f"{value.rstrip('/')}/"),
            lambda _, name: name == key or name.startswith(folder),
            lambda _, name: f"/{name}".endswith(f"/{key}") or f"/{folder}" in f"/{name}",
            lambda _, name: "/" not in key and PurePosixPath(name).stem == key,
            lambda _, name: name.startswith(key),
        )
        for reading in readings:
            if found := frozenset(name for name, plain in self._names.items() if reading(name, plain)):
                return found
        bases = (name.rpartition("/")[2] for name in self._names)
        near = nearest(value, [*folders_of(self._names), *bases, *self._names])
        meant = f"; did you mean {_either(near)}?" if near else ""
        raise UsageError(
            f"{of}{value}: no note's name begins so{meant}",
            hint=f"{_there(folders_of(self._names) or sorted(self._names))}; {_as_words(of, value)}",
        )


class _Tags:
    """Notes by their tags."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._holders: dict[str, set[str]] = {}
        self._written: dict[str, str] = {}
        for name, source in sources.items():
            for tag in source.tags:
                self._holders.setdefault(folded(tag), set()).add(name)
                self._written.setdefault(folded(tag), tag)

    def with_tag(self, tag: str, of: str) -> frozenset[str]:
        """The notes that have the tag, or one below it."""
        key = folded(tag.lstrip("#")).strip("/")
        found = [held for known, held in self._holders.items() if known == key or known.startswith(f"{key}/")]
        if not found:
            near = nearest(tag, self._written.values())
            meant = f"; did you mean {_either(near)}?" if near else ""
            raise UsageError(
                f"{of}{tag}: no note has this tag{meant}",
                hint=f"{_there(sorted(self._written.values()), 'no tags')}; {_as_words(of, tag)}",
            )
        return frozenset[str]().union(*found)


def _scope(filters: Filters, left: frozenset[str], sources: Mapping[str, Source]) -> Scope:
    """All of them where all are left; a folder by its name, which spares a database a list of thousands."""
    if len(left) == len(sources):
        return Scope()
    if filters == Filters(within=filters.within) and len(filters.within) == 1:
        folder = f"{filters.within[0].removeprefix('./').rstrip('/')}/"
        if left == {name for name in sources if name.startswith(folder)}:
            return Scope(prefix=folder)
    return Scope(documents=left)


def _without(coverage: Coverage, indexed: int, failed: int) -> Coverage:
    """The coverage of what is left. Notes that wait to be embedded are known, and counted out, last."""
    waiting = min(max(0, indexed - coverage.indexed), coverage.by_words)
    return replace(
        coverage,
        indexed=max(0, coverage.indexed - indexed),
        failed=max(0, coverage.failed - failed),
        by_words=coverage.by_words - waiting,
        pending=max(0, coverage.pending - waiting),
        outside=indexed + failed,
    )


def _quoted(value: str) -> str:
    return f'"{value}"' if not value or " " in value or '"' in value else value


def _there(names: list[str], nothing: str = "no notes") -> str:
    """The names that could have been meant, as many as a line takes."""
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return f"there are {', '.join(names[:_MOST_NAMED])}{more}" if names else f"there are {nothing}"


def _as_words(of: str, value: str) -> str:
    return f'to search for the words themselves, write "{of}{value}" in quotes'


def _either(names: list[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))
