"""Find data that stands in a text but is no prose: base64 and hexadecimal blobs.

Only ASCII runs are looked at, so scripts that write without spaces are never taken for data, and the mixture
of capitals, small letters and digits tells data from a long address or a long word.
"""

from __future__ import annotations

import re

from ragchat.documents.document import Span
from ragchat.documents.spans import merged

_BREAK = r"(?>\r\n|\r|\n)"
# `^` and `$` know only LF.
_LINE_START, _LINE_END = r"(?<![^\r\n])", r"(?![^\r\n])"
# A data address with what wraps it: the target of an image (its words before stay), a whole HTML tag, or the
# whole definition of a reference, as Google Docs exports its pictures.
_ADDRESS = (
    rf"data:[\w.+/-]*+(?:;[\w.=-]++)*?;base64,(?:[A-Za-z0-9+/=%_-]++(?:{_BREAK}(?=[A-Za-z0-9+/=]{{40}}))?)++"
)
_DATA_ADDRESS = re.compile(_ADDRESS, re.IGNORECASE)
_BARE = re.compile(r"(?<![A-Za-z0-9+/=_&?%.:#~-])[A-Za-z0-9+/=_-]{512,}+(?![&?%.:#~])")
_LINE = r"[A-Za-z0-9+/]{60,}+={0,2}+[ \t]*+"
_WRAPPED = re.compile(
    rf"{_LINE_START}(?:[ \t>]*+{_LINE}{_BREAK}){{6,}}+"
    rf"(?:[ \t>]*+[A-Za-z0-9+/]++={{0,2}}+[ \t]*+{_LINE_END})?+"
)
_MIN_ADDRESS = 200
_MIN_BARE = 512
_JUDGED = 10_000
_HAS_BLANK = re.compile(r"\s")
_TARGET_OPEN = re.compile(r"\]\([ \t]*<?$")
_TARGET_CLOSE = re.compile(r">?(?:[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'))?[ \t]*\)")
_TAG_OPEN = re.compile(r"<[A-Za-z][^<>]*$")
_TAG_CLOSE = re.compile(r"[^<>\r\n]*>")
_DEFINITION_OPEN = re.compile(rf"{_LINE_START}[ \t]{{0,3}}\[[^\[\]\r\n]+\]:[ \t]*<?$")
_DEFINITION_CLOSE = re.compile(r">?[^\r\n]*")
_LOOK_BACK = 1000


def data_blobs(text: str, start: int = 0) -> list[Span]:
    """Ranges of data blobs in `text[start:]`, in order and not overlapping."""
    found = [
        _with_wrapping(text, Span(*match.span()), start)
        for match in _DATA_ADDRESS.finditer(text, start)
        if match.end() - match.start() >= _MIN_ADDRESS
    ]
    for pattern in (_BARE, _WRAPPED):
        found += [Span(*match.span()) for match in pattern.finditer(text, start) if _is_data(match.group())]
    return merged(found)


def _with_wrapping(text: str, span: Span, floor: int) -> Span:
    before = text[max(floor, span.start - _LOOK_BACK) : span.start]
    for opening, closing in (
        (_TARGET_OPEN, _TARGET_CLOSE),
        (_DEFINITION_OPEN, _DEFINITION_CLOSE),
        (_TAG_OPEN, _TAG_CLOSE),
    ):
        opened = opening.search(before)
        closed = closing.match(text, span.end)
        if opened and closed:
            return Span(span.start - len(before) + opened.start(), closed.end())
    return span


def _is_data(run: str) -> bool:
    """Whether a run has the mixture of base64 or hexadecimal data rather than of words or an address."""
    letters = "".join(run[:_JUDGED].split())
    if len(letters) < _MIN_BARE:
        return False
    digits = sum(map(str.isdigit, letters))
    upper = sum(map(str.isupper, letters))
    lower = sum(map(str.islower, letters))
    if re.fullmatch(r"[0-9a-fA-F]+", letters):
        # One long run only: lines of 64 hexadecimal digits are a list of checksums, which people look up.
        return not _HAS_BLANK.search(run) and digits < len(letters)
    return (
        digits >= 0.04 * len(letters)
        and upper >= 0.15 * len(letters)
        and lower >= 0.15 * len(letters)
        and sum(map(letters.count, "/_-=+")) <= 0.15 * len(letters)
    )
