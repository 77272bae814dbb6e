"""thin"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ragchat.index.protocol import Scope, Snapshot
from ragchat.index.tokens import tokenize


@dataclass(frozen=True, slots=True)
class Found:
    """term: as the question wrote it. chunk_ids: passages that hold it, at least one."""

    term: str
    chunk_ids: tuple[int, ...]


def find_literal(
    question: str, snapshot: Snapshot, scope: Scope, count_tokens: Callable[[str], int]
) -> Found | None:
    """The rarest identifier of the question that a passage in the scope holds, or None."""
    for word in question.split():
        if any(letter.isdigit() for letter in word) and count_tokens(word) > 0:
            found = snapshot.containing(tokenize(word)[0], scope, 3)
            if found:
                return Found(word, tuple(found))
    return None
