"""Find the front matter of a note (YAML between `---`, TOML between `+++`) and its title.

Only the title is read out of it, so a note whose front matter is no valid YAML is still a note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

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
_LINE_START = re.compile(r"\r\n?")
_QUOTED = re.compile(r"\"(?P<double>(?:[^\"\\]|\\.)*)\"|'(?P<single>(?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
# A mapping, a comment or nothing: what stands between two rules of a note is more often prose.
_YAML_LINE = re.compile(r"[ \t]*(?:#.*|-(?:[ \t].*)?|[^\s:#][^:]*:(?:[ \t].*)?|[\]}\"'].*)?")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """end: where the body begins, in code points. title: "" where it has none."""

    end: int
    title: str


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
    return FrontMatter(end=closing.end(), title=_title(inside, mark))


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
    value = found.group("value").strip()
    quoted = _QUOTED.match(value)
    if quoted is None:
        plain = plain_label(_COMMENT.sub("", value))
        return "" if plain in {"|", ">", "|-", ">-", "|+", ">+", "~", "null"} else plain
    if quoted.group("single") is not None:
        return plain_label(quoted.group("single").replace("''", "'"))
    return plain_label(re.sub(r"\\(.)", r"\1", quoted.group("double")))
