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
    это этот эта эти этого этому этой этих этим этом этими эту тот того тому тем том та те тех
    он она оно они его ему её ей их им такой такая такие такого данный данная данные данного
    указанный указанная указанные указанного вышеуказанный вышеуказанная упомянутый
    αυτό αυτός αυτή αυτοί αυτές αυτά εκείνο εκείνος εκείνη
    هذا هذه ذلك تلك هؤلاء यह ये इस इन वह उस
""".split()  # noqa: SIM905 -- a list of a hundred quotes cannot be read
_PREPOSITIONS = "in|on|for|at|by|with|from|under|after|before|to|of|в|во|на|по|при|с|для|из|об?|к|у|после|до"
_BEFORE = r"[\s\-*+>#\"'“„«(\[]*"
_WORDS = re.compile(
    rf"{_BEFORE}(?:(?:the|la|le|der|die|das) +(?:former|latter|above|aforementioned)\b"
    rf"|(?:(?:{_PREPOSITIONS}) +)?(?:{'|'.join(_POINTING)})(?:\b(?![-’'])|['’](?:s|re|ll|d|ve)\b(?![-’'])))",
    re.IGNORECASE,
)
_CJK = re.compile(
    rf"{_BEFORE}[「『（・]*(?:これ|それ|あれ|この|その|あの|ここ|そこ|こう|そう|彼|彼女|前者|後者"
    r"|同(?:項|条|法|書|社|氏|号|規則|年|日|上)|前(?:項|条|号|述|記|掲)|当該|上記|上述|左記|本(?:項|条|号)"
    r"|该|該|此|这|這|那|其|前述"
    r"|이것|그것|저것|이러한|그러한|이는|그는|이를|그를|이들|그들|해당|상기|동항|전항)"
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
