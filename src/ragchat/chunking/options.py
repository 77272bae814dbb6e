"""How documents are cut: a frozen value that refuses the impossible and knows its part of the stamp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ragchat.errors import UsageError

Strategy = Literal["boundaries", "blind", "sections"]

SMALLEST_SIZE = 40
"""Characters; below it a passage is a scrap of a sentence and says nothing on its own."""

CONTEXT_VERSION = 2
"""Raised whenever the model is asked otherwise for a passage's context."""
_VERSION = 1
"""Raised whenever the same document and options are cut otherwise, so that old indexes become stale."""


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How a document is cut. Raises UsageError when no chunk could be cut so.

    strategy: "boundaries" keeps sections, blocks and sentences whole; "blind" cuts every `size` characters;
        "sections" keeps a section in one passage, whatever its size, as far as the encoder's window allows.
    size: the most characters of a passage that are read; silent ranges (link targets, tags) do not count.
    overlap: characters of the passage before that are embedded too; never quoted.
    header: embed `[Title > Heading]` before the passage.
    code: keep code blocks.
    context: the model that writes a sentence before each passage (`ragchat.index.contexts`); "" for none.
    """

    strategy: Strategy = "boundaries"
    size: int = 512
    overlap: int = 0
    header: bool = True
    code: bool = True
    context: str = ""

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            raise UsageError(
                f"chunking.strategy is {self.strategy!r}, which is no strategy",
                hint=f"set chunking.strategy to one of: {', '.join(get_args(Strategy))}",
            )
        if self.size < SMALLEST_SIZE:
            raise UsageError(
                f"chunking.size is {self.size}: a passage that short holds no sentence",
                hint=f"set chunking.size to {SMALLEST_SIZE} or more; 512 is the default",
            )
        if not 0 <= self.overlap < self.size:
            raise UsageError(
                f"chunking.overlap is {self.overlap}: it must be 0 or more, and below the size, {self.size}",
                hint="set chunking.overlap to 0, or to a fraction of chunking.size",
            )

    @property
    def stamp(self) -> str:
        """What an index keeps to know whether its chunks were cut so: `boundaries/1 size=512 overlap=0 …`."""
        words = [f"{self.strategy}/{_VERSION}", f"size={self.size}", f"overlap={self.overlap}"]
        if self.header:
            words.append("header")
        if self.code:
            words.append("code")
        if self.context:
            words.append(f"context/{CONTEXT_VERSION}={self.context}")
        return " ".join(words)
