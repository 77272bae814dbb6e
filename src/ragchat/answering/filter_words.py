"""Filters as they are typed in a question: `in:house/ tag:tax after:2025-01 when is the rent due?`

A filter is a word that begins with `in:`, `tag:`, `after:` or `before:`, with its value right behind the
colon, in double quotes where it has blanks: `in:"My notes/"`. A `-` before it turns it round. What stands in
quotes of its own is text: `"in:house/"`. So is a colon with a blank behind it, and one within a word.
"""

from __future__ import annotations

import re

from ragchat.errors import UsageError
from ragchat.retrieval.filters import NO_FILTERS, Filters, day_of

_WORD = re.compile(
    r"(?<!\S)(?P<not>-?)(?P<kind>in|tag|after|before):(?:\"(?P<quoted>[^\"\r\n]+)\"(?!\S)|(?P<plain>[^\s\"]\S*))"
    r"|(?<!\w)(?P<mark>[\"`])[^\"`\r\n]*(?P=mark)"
)


def split_filters(text: str) -> tuple[str, Filters]:
    """The question without its filters, and these. Raises UsageError for what is no date."""
    kept: list[str] = []
    filters, at = NO_FILTERS, 0
    for found in _WORD.finditer(text):
        if found["kind"]:
            filters &= _filter(found["kind"], found["quoted"] or found["plain"], turned=bool(found["not"]))
            kept.append(text[at : found.start()])
            at = found.end()
    if not filters:
        return text, NO_FILTERS
    kept.append(text[at:])
    return _joined(kept), filters


def filters_of_options(
    within: tuple[str, ...], tags: tuple[str, ...], after: str | None, before: str | None
) -> Filters:
    """The filters of a command's options. Raises UsageError for what is no date."""
    return Filters(
        within=tuple(value for value in within if value),
        tags=tuple(value for value in tags if value),
        after=day_of(after, "--after ") if after else "",
        before=day_of(before, "--before ") if before else "",
    )


def _filter(kind: str, value: str, *, turned: bool) -> Filters:
    match kind, turned:
        case "in", False:
            return Filters(within=(value,))
        case "in", True:
            return Filters(without=(value,))
        case "tag", False:
            return Filters(tags=(value,))
        case "tag", True:
            return Filters(not_tags=(value,))
        case ("after", False) | ("before", True):
            return Filters(after=day_of(value, f"{kind}:"))
        case _:
            return Filters(before=day_of(value, f"{kind}:"))


def _joined(parts: list[str]) -> str:
    """One blank where a filter stood between two words; line breaks stay."""
    text = parts[0].rstrip(" ")
    for part in parts[1:]:
        blank = " " if text and not text.endswith("\n") else ""
        text = f"{text}{blank}{part.strip(' ')}".rstrip(" ")
    return text.strip(" ")


def without_filters(text: str) -> str:
    """The words of a question that was asked before; the whole of one that could not be asked so now."""
    try:
        return split_filters(text)[0]
    except UsageError:
        return text


def followed(before: str, question: str) -> str:
    """Two questions as one that a third may follow, with the filters of the later one if it has any."""
    return f"{without_filters(before) if question != without_filters(question) else before} {question}"
