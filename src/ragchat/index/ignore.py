"""Which files a person has said are not notes: .gitignore, .ragchatignore and the settings.

As git reads them: patterns hold below their folder, those of an inner folder win over those of an outer one,
a later one over an earlier one, `!` takes back, and nothing below an ignored folder can be taken back. In one
folder .ragchatignore comes after .gitignore; the settings come last of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

IGNORE_FILES = (".gitignore", ".ragchatignore")

_MOST_BYTES = 1_000_000
"""No such file is longer; what is, must not stall the scan."""

_SLASH = "ps_d"
_INSIDE = re.compile(r"/\*\*(/?)\s*$")


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern for one file or folder; what lies below a folder is decided by not looking into it.

    pathspec's own verdicts are for trees that are not walked, so a folder's pattern matches all below it.
    Its expressions mark the slash behind the folder they match: here that must be the path's last character.
    """

    expression: re.Pattern[str]
    ignores: bool

    def matches(self, name: str) -> bool:
        if _SLASH not in self.expression.groupindex:
            return self.expression.search(name) is not None
        return any(match.end(_SLASH) in (-1, len(name)) for match in self.expression.finditer(name))


class IgnoreRules:
    """The rules that hold in one folder; `name` is always relative to the notes folder, with `/`."""

    def __init__(self, layers: Sequence[tuple[str, Sequence[_Pattern]]]) -> None:
        self._layers = (
            layers  # strongest first: (the folder they hold in, "" or "a/b/"; its patterns, strongest first)
        )

    @classmethod
    def from_settings(cls, exclude: Iterable[str]) -> IgnoreRules:
        """The rules of the notes folder before any of its own files was read."""
        return cls([("", _patterns(exclude))])

    def within(self, prefix: str, paths: Iterable[Path]) -> IgnoreRules:
        """The rules below `prefix` ("" or "a/b/"), whose ignore files are at `paths`, weakest first."""
        lines = [line for path in paths for line in _lines(path)]
        if not lines:
            return self
        # The settings stay strongest; what was found further in comes next.
        return IgnoreRules([self._layers[0], (prefix, _patterns(lines)), *self._layers[1:]])

    def ignores(self, name: str) -> bool:
        """Whether this file, or this folder (its name ending in `/`), is ignored."""
        for prefix, patterns in self._layers:
            inner = name[len(prefix) :]
            for pattern in patterns:
                if pattern.matches(inner):
                    return pattern.ignores
        return False


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8-sig", "replace").splitlines()
    except OSError:
        return []


def _patterns(lines: Iterable[str]) -> list[_Pattern]:
    """Strongest first. A line that is no pattern is passed over, as git does; it must not cost the others."""
    lines = list(lines)
    if not lines:  # most folders have none, and no question waits for the library
        return []
    from pathspec import GitIgnoreSpec, RegexPattern

    patterns = []
    for line in lines:
        try:
            # pathspec takes the folder `a/` itself for a match of `a/**`, git does not.
            compiled = GitIgnoreSpec.from_lines([_INSIDE.sub(r"/**/*\1", line)]).patterns
        except (ValueError, re.error):
            continue
        patterns += [
            _Pattern(pattern.regex, pattern.include)
            for pattern in compiled
            if isinstance(pattern, RegexPattern) and pattern.regex and pattern.include is not None
        ]
    return patterns[::-1]
