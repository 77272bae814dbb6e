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
    from ragchat.index.source import Source

_TYPED = re.compile(
    r"(?<!\S)(?P<mark>-?(?P<kind>in|tag|after|before):)(?:\"(?P<quoted>[^\"\r\n]*)|(?P<plain>[^\s\"]*))\Z"
)
_MOST = 8


@dataclass(frozen=True, slots=True)
class FilterNames:
    """What filters can name, the likeliest first, by the form in which names are compared.

    places: folders, then files. tags: the commonest first. months: that have notes, the latest first.
    """

    places: Mapping[str, str]
    tags: Mapping[str, str]
    months: Mapping[str, str]


def filter_names(sources: Mapping[str, Source]) -> FilterNames:
    """Of the notes of an index."""
    tags = Counter(tag for source in sources.values() for tag in source.tags)
    months = sorted({source.day[:7] for source in sources.values()} - {""}, reverse=True)
    return FilterNames(
        places=_by_key([*folders_of(sources), *sorted(sources)]),
        tags=_by_key(sorted(tags, key=lambda tag: (-tags[tag], tag))),
        months=_by_key(months),
    )


def typed_filter(text: str) -> str:
    """The filter that the text ends with, as far as it is typed; "" where it ends with none."""
    found = _TYPED.search(text)
    return found.group() if found is not None else ""


def filter_suggestions(workspace: Workspace, typed: str) -> list[str]:
    """What the last word of a question may become, when it is a filter, best first; see `completions`."""
    return completions(filter_names(workspace.index().sources()) if workspace.has_index() else None, typed)


def completions(names: FilterNames | None, typed: str) -> list[str]:
    """Whole filters, `in:house/`, that the text may end with in place of the one that is being typed."""
    found = _TYPED.search(typed)
    if found is None or names is None:
        return []
    known = {"in": names.places, "tag": names.tags}.get(found["kind"], names.months)
    matching = _matching(known, found["quoted"] or found["plain"] or "")
    return [f"{found['mark']}{_quoted(name)}" for name in matching]


def _by_key(names: Iterable[str]) -> dict[str, str]:
    by_key: dict[str, str] = {}
    for name in names:
        by_key.setdefault(folded(name), name)
    return by_key


def _matching(names: Mapping[str, str], value: str) -> list[str]:
    """Names that begin so; then those of which a part does."""
    key = folded(value)
    first: list[str] = []
    second: list[str] = []
    for plain, name in names.items():
        if plain == key:
            continue
        if plain.startswith(key):
            first.append(name)
            if len(first) == _MOST:
                break
        elif len(second) < _MOST and f"/{key}" in plain:
            second.append(name)
    return [*first, *second][:_MOST]


def _quoted(name: str) -> str:
    return f'"{name}"' if " " in name else name
