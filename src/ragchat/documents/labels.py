"""Titles and heading paths as one line of plain words."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

_BLANKS = re.compile(r"\s+")


def plain_label(text: str) -> str:
    """The words on one line: control and invisible formatting characters dropped, blanks collapsed."""
    # A joiner holds emoji and the words of some scripts together, so of the invisible ones it may stay.
    shown = (
        " " if character.isspace() else character
        for character in text
        if character.isspace()
        or character in "\u200c\u200d"
        or unicodedata.category(character) not in _HIDDEN
    )
    return _BLANKS.sub(" ", "".join(shown)).strip()


_HIDDEN = frozenset({"Cc", "Cf", "Cs"})


def title_from_name(name: str) -> str:
    """The file name without folders and suffix, for a document that names itself nowhere."""
    path = PurePosixPath(name)
    return plain_label(path.stem) or plain_label(path.name) or path.name
