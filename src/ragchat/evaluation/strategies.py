"""The ways of cutting that are compared, by name.

`fixed-N` and `sections` are cut as tools do that do not count tokens: what a passage has beyond the encoder's
window is not read. All others stay within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragchat.chunking.options import ChunkOptions
from ragchat.errors import UsageError

OVERLAP = 64
"""Characters of the passage before."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """One way of cutting. beyond_window: whether passages may be longer than the encoder reads."""

    name: str
    options: ChunkOptions
    beyond_window: bool = False


CUTTINGS = (
    Cutting("blind", ChunkOptions("blind", header=False)),
    Cutting("blind+overlap", ChunkOptions("blind", overlap=OVERLAP, header=False)),
    Cutting("boundaries", ChunkOptions(header=False)),
    Cutting("boundaries+overlap", ChunkOptions(overlap=OVERLAP, header=False)),
    Cutting("boundaries+header", ChunkOptions()),
    Cutting("boundaries+overlap+header", ChunkOptions(overlap=OVERLAP)),
    Cutting("fixed-200", ChunkOptions("blind", size=200, header=False), beyond_window=True),
    Cutting("fixed-500", ChunkOptions("blind", size=500, header=False), beyond_window=True),
    Cutting("fixed-1000", ChunkOptions("blind", size=1000, header=False), beyond_window=True),
    Cutting("fixed-2000", ChunkOptions("blind", size=2000, header=False), beyond_window=True),
    Cutting("sections", ChunkOptions("sections", header=False), beyond_window=True),
)


def cuttings_named(words: Sequence[str]) -> list[Cutting]:
    """The cuttings of these names, in order, each once; "all" stands for every one.

    Raises UsageError for a name that is none.
    """
    by_name = {cutting.name: cutting for cutting in CUTTINGS}
    names = [name for word in words for name in (by_name if word == "all" else (word,))]
    for name in names:
        if name not in by_name:
            raise UsageError(f"there is no strategy {name}", hint=f"all, or some of: {', '.join(by_name)}")
    return [by_name[name] for name in dict.fromkeys(names)]
