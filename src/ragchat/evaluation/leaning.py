"""Passages that cannot stand alone: they begin with a word that points at what stood before them.

"This applies only to …" is found by no question that names what "this" is, and tells a model little. The
first passage of a section is no such case: its header says what it is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ragchat.chunking.chunk import Chunk

_POINTING = """
    this that these those it its they them their he him his she her such same
    dies diese dieser dieses diesem diesen jene jener er sie es deren dessen letztere erstere
    ce cet cette ces cela il elle ils elles celui celle ceux
    este esta estos estas esto ese esa esos eso ello dicho dicha
    это этот эта эти этого этой этих он она оно они его её их такой такая такие данный данная
""".split()  # noqa: SIM905 -- a list of a hundred quotes cannot be read
_BEFORE = r"[\s\-*+>#\"'“„«(\[]*"
_WORDS = re.compile(
    rf"{_BEFORE}(?:(?:the|la|le|der|die|das) +(?:former|latter|above|aforementioned)\b"
    rf"|(?:{'|'.join(_POINTING)})\b(?![-’']))",
    re.IGNORECASE,
)
_CJK = re.compile(
    rf"{_BEFORE}[「『（・]*(?:これ|それ|あれ|この|その|あの|ここ|そこ|こう|そう|彼|彼女|前者|後者"
    r"|同(?:項|条|法|書|社|氏|号|規則|年|日)|前(?:項|条|号|述|記)|当該|上記|上述|本(?:項|条|号)|该|此|这|那|其|上述)"
)


def leans(words: str) -> bool:
    """Whether a passage of these words begins by pointing at what is not in it."""
    return bool(_WORDS.match(words) or _CJK.match(words))


def leaning_chunks(chunks: Iterable[Chunk]) -> Sequence[Chunk]:
    """Those that lean on the passage before them, in order of note and range."""
    ordered = sorted(chunks, key=lambda chunk: (chunk.document, chunk.start))
    found: list[Chunk] = []
    before: tuple[str, tuple[str, ...]] | None = None
    for chunk in ordered:
        place = (chunk.document, chunk.section)
        if place == before and leans(chunk.sent):
            found.append(chunk)
        before = place
    return found
