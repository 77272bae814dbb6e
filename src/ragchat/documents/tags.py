"""Tags of a note: what its front matter lists, and words that begin with `#` in its text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from ragchat.documents.document import Block, Span
from ragchat.documents.labels import plain_label

_MOST, _LONGEST = 200, 100
"""Nobody has more, or longer ones: what does is no note's list of tags."""

# At least one letter: `#1` is a number of something.
_HASHTAG = re.compile(r"(?<![^\s(\[{,;:\"'“„«*_])#(?P<tag>[\w/-]*[^\W\d_][\w/-]*)")
_INLINE_CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)


def tidied(tags: Iterable[str]) -> tuple[str, ...]:
    """As they are kept: no `#`, on one line, in NFC, each once, whatever its case."""
    kept: dict[str, str] = {}
    for tag in tags:
        plain = unicodedata.normalize("NFC", plain_label(tag)).lstrip("#").strip(" /")
        if plain and len(plain) <= _LONGEST:
            kept.setdefault(plain.casefold(), plain)
        if len(kept) == _MOST:
            break
    return tuple(kept.values())


def hashtags(text: str, blocks: Sequence[Block], silent: Sequence[Span]) -> list[str]:
    """`#tax` and `#work/2025` in the words of a Markdown text; not in code, links, addresses, HTML.

    silent: ranges that carry no words, in order.
    """
    found: list[str] = []
    for block in blocks:
        if block.kind in ("code", "html") or "#" not in (words := text[block.start : block.end]):
            continue
        code = (found.span() for found in _INLINE_CODE.finditer(words))
        aside = [(block.start + start, block.start + end) for start, end in code]
        aside += [
            (span.start, span.end) for span in silent if span.start < block.end and block.start < span.end
        ]
        for tag in _HASHTAG.finditer(words):
            at = block.start + tag.start()
            if not any(start <= at < end for start, end in aside):
                found.append(tag["tag"].strip("-/"))
    return found
