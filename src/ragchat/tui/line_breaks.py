"""Where a line may be broken: Japanese and Chinese are written without blanks.

Rich and Textual break only at blanks. A sentence of such a script then goes to the next line as a whole, and
leaves most of the line before it empty wherever a Latin word stands in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import rich._wrap

_WIDE = (
    r"\u2e80-\u303e\u3041-\u30ff\u3105-\u312f\u31a0-\u9fff\ua000-\ua4cf\uf900-\ufaff\uff01-\uff60"
    r"\U00020000-\U0003ffff"
)
_OPENING = r"（〔［｛〈《「『【〘〖｟“‘"
_CLOSING = (
    r"、。，．・：；？！）〕］｝〉》」』】〙〗｠”’ー々〻ゝゞヽヾ"
    r"ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"
    r"\u3099\u309a\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"  # what belongs to the character before it
)
_UNIT = re.compile(rf"\s*[{_OPENING}]*(?:[{_WIDE}]|[^\s{_WIDE}{_OPENING}]+|[{_OPENING}])[{_CLOSING}]*\s*")
_HAS_WIDE = re.compile(f"[{_WIDE}]")
_words_at_blanks = rich._wrap.words


def units(text: str) -> Iterator[tuple[int, int, str]]:
    """(start, end, words) of each piece that is kept whole, the blanks around it included.

    No line begins with a closing mark or a small kana, none ends with an opening one (kinsoku).
    """
    if text.isascii() or not _HAS_WIDE.search(text):
        yield from _words_at_blanks(text)
        return
    at = 0
    while (unit := _UNIT.match(text, at)) is not None:
        at = unit.end()
        yield unit.start(), at, unit[0]


def break_between_wide_characters() -> None:
    """Let every line of the screen be broken there too."""
    rich._wrap.words = units
