"""How a filter that is being typed may go on: `in:ho` → `in:house/`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragchat.retrieval.filters import folded, folders_of

if TYPE_CHECKING:
    from ragchat.answering.workspace import Workspace
    from ragchat.index.protocol import Source

_TYPED = re.compile(r"(?<!\S)-?(?P<kind>in|tag|after|before):(?P<quote>\"?)(?P<value>[^\"\r\n]*)\Z")
_MOST = 8


@dataclass(frozen=True, slots=True)
class FilterNames:
    """What filters can name, the likeliest first.

    places: folders, then files. tags: the commonest first. months: that have notes, the latest first.
    """

    places: tuple[str, ...]
    tags: tuple[str, ...]
    months: tuple[str, ...]


def filter_names(sources: Mapping[str, Source]) -> FilterNames:
    """Of the notes of an index."""
    tags = Counter(tag for source in sources.values() for tag in source.tags)
    return FilterNames(
        places=(*folders_of(sources), *sorted(sources)),
        tags=tuple(sorted(tags, key=lambda tag: (-tags[tag], tag))),
        months=tuple(sorted({source.day[:7] for source in sources.values()} - {""}, reverse=True)),
    )


def filter_suggestions(workspace: Workspace, typed: str) -> list[str]:
    """What the last word of a question may become, when it is a filter, best first; see `completions`."""
    return completions(filter_names(workspace.index().sources()) if workspace.has_index() else None, typed)


def completions(names: FilterNames | None, typed: str) -> list[str]:
    """Whole filters, `in:house/`, that the text may end with in place of the one that is being typed."""
    found = _TYPED.search(typed)
    if found is None or names is None or (" " in found["value"] and not found["quote"]):
        return []
    kind, value = found["kind"], found["value"]
    known = {"in": names.places, "tag": names.tags}.get(kind, names.months)
    mark = found.group()[: found.start("quote") - found.start()]
    return [f"{mark}{_quoted(name)}" for name in _matching(known, value) if folded(name) != folded(value)]


def _matching(names: Iterable[str], value: str) -> list[str]:
    """Names that begin so; then those of which a part does."""
    key = folded(value)
    first: list[str] = []
    second: list[str] = []
    for name in names:
        plain = folded(name)
        if plain.startswith(key):
            first.append(name)
            if len(first) == _MOST:
                break
        elif len(second) < _MOST and f"/{key}" in plain:
            second.append(name)
    return [*first, *second][:_MOST]


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
