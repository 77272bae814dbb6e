"""Find the front matter of a note (YAML between `---`, TOML between `+++`), its title, tags and date.

Only these few fields are read out of it, each by itself, so a note whose front matter is no valid YAML is
still a note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ragchat.documents.dates import written_date
from ragchat.documents.labels import plain_label

_BREAK = r"(?>\r\n|\r|\n)"
_OPENING = re.compile(rf"(---|\+\+\+)[ \t]*{_BREAK}")
_CLOSING = {
    "---": re.compile(rf"(?<=[\r\n])(?:---|\.\.\.)[ \t]*(?:{_BREAK}|\Z)"),
    "+++": re.compile(rf"(?<=[\r\n])\+\+\+[ \t]*(?:{_BREAK}|\Z)"),
}
_TITLE = {
    "---": re.compile(r"^title[ \t]*:[ \t]*(?P<value>[^\r\n]*)", re.MULTILINE | re.IGNORECASE),
    "+++": re.compile(r"^title[ \t]*=[ \t]*(?P<value>[^\r\n]*)", re.MULTILINE | re.IGNORECASE),
}
_TAGS, _DATES = ("tags", "tag", "keywords"), ("date", "created", "published")
# A value goes on over lines that are indented, items of a list, and what closes a list.
_VALUE = r"(?P<value>[^\n]*(?:\n(?:[ \t]+[^\n]*|-[ \t][^\n]*|[ \t]*\][^\n]*))*)"
_ITEM = re.compile(r"^[ \t]*-[ \t]+(?P<item>[^\n]*)", re.MULTILINE)
_IN_BRACKETS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,\[\]\n\"']+")
_LINE_START = re.compile(r"\r\n?")
_QUOTED = re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
# A mapping, a comment or nothing: what stands between two rules of a note is more often prose.
_YAML_LINE = re.compile(r"[ \t]*(?:#.*|-(?:[ \t].*)?|[^\s:#][^:]*:(?:[ \t].*)?|[\]}\"'].*)?")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """end: where the body begins, in code points. title: "" where it has none.

    tags: as they are written. dated: "2025-01-31", "" where it has no date.
    """

    end: int
    title: str
    tags: tuple[str, ...] = ()
    dated: str = ""


def front_matter(text: str) -> FrontMatter | None:
    """The front matter at the very start of a note, or None."""
    opening = _OPENING.match(text)
    if opening is None:
        return None
    mark = opening.group(1)
    closing = _CLOSING[mark].search(text, opening.end())
    if closing is None:
        return None
    inside = text[opening.end() : closing.start()]
    if mark == "---" and not _looks_like_yaml(inside):
        return None
    values = {key: _values(inside, mark, key) for key in (*_TAGS, *_DATES)}
    days = (written_date(value) for key in _DATES for value in values[key])
    return FrontMatter(
        end=closing.end(),
        title=_title(inside, mark),
        tags=tuple(tag for key in _TAGS for tag in values[key]),
        dated=next(filter(None, days), ""),
    )


def _looks_like_yaml(inside: str) -> bool:
    """Whether the first line that is not blank could begin a YAML mapping; a rule above prose could not."""
    for line in re.split(_BREAK, inside):
        if line.strip():
            return _YAML_LINE.fullmatch(line) is not None
    return True


def _title(inside: str, mark: str) -> str:
    found = _TITLE[mark].search(_LINE_START.sub("\n", inside))
    if found is None:
        return ""
    return _plain(found.group("value"))


def _values(inside: str, mark: str, key: str) -> list[str]:
    """What a field lists: items of a list, words between commas, else words between blanks.

    One of keywords may be of several words.
    """
    equals = ":" if mark == "---" else "="
    found = re.search(
        rf"^{key}[ \t]*{equals}[ \t]*{_VALUE}", _LINE_START.sub("\n", inside), re.MULTILINE | re.IGNORECASE
    )
    if found is None:
        return []
    value = found["value"]
    if value.lstrip().startswith("["):
        items = _IN_BRACKETS.findall(_COMMENT.sub("", value))
    elif listed := _ITEM.findall(value):
        items = listed
    else:
        items = [_plain(value.split("\n")[0])]
        if key in _TAGS:
            items = items[0].split(",") if "," in items[0] or key == "keywords" else items[0].split()
    return [plain for item in items if (plain := _plain(item))]


def _plain(value: str) -> str:
    """A scalar without its quotes, or without its comment."""
    value = value.strip()
    quoted = _QUOTED.match(value)
    if quoted is None:
        plain = plain_label(_COMMENT.sub("", value))
        return "" if plain in {"|", ">", "|-", ">-", "|+", ">+", "~", "null"} else plain
    if quoted.group("single") is not None:
        return plain_label(quoted.group("single").replace("''", "'"))
    return plain_label(re.sub(r"\\(.)", r"\1", quoted.group("double")))
