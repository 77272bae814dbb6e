"""Which files a person has said are not notes: .gitignore, .ragchatignore and the settings.

As git reads them: patterns hold below their folder, those of an inner folder win over those of an outer one,
a later one over an earlier one, `!` takes back, and nothing below an ignored folder can be taken back. In one
folder .ragchatignore comes after .gitignore; the settings come last of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ragchatignore")

_MOST_BYTES = 1_000_000
"""No such file is longer; what is, must not stall the scan."""


class IgnoreRules:
    """The rules that hold in one folder; `name` is always relative to the notes folder, with `/`."""

    def __init__(self, layers: Sequence[tuple[str, GitIgnoreSpec]]) -> None:
        self._layers = layers  # strongest first: (the folder they hold in, "" or "a/b/"; its patterns)

    @classmethod
    def from_settings(cls, exclude: Iterable[str]) -> IgnoreRules:
        """The rules of the notes folder before any of its own files was read."""
        return cls([("", _spec(exclude))])

    def within(self, prefix: str, paths: Iterable[Path]) -> IgnoreRules:
        """The rules below `prefix` ("" or "a/b/"), whose ignore files are at `paths`, weakest first."""
        lines = [line for path in paths for line in _lines(path)]
        if not lines:
            return self
        # The settings stay strongest; what was found further in comes next.
        return IgnoreRules([self._layers[0], (prefix, _spec(lines)), *self._layers[1:]])

    def ignores(self, name: str) -> bool:
        """Whether this file, or this folder (its name ending in `/`), is ignored."""
        for prefix, spec in self._layers:
            verdict = spec.check_file(name.removeprefix(prefix)).include
            if verdict is not None:
                return verdict
        return False


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8-sig", "replace").splitlines()
    except OSError:
        return []


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    """A pattern that is none is passed over, as git does; it must not cost the others."""
    return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
