"""The documents of a folder as the index view lists them, what needs a look first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from ragchat.tui.formatting import count, one_line

if TYPE_CHECKING:
    from ragchat.answering.status import FolderStatus
    from ragchat.index.source import Source

Standing = Literal["failed", "in part", "stale", "skipped", "indexed"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
GLYPHS: dict[Standing, str] = {"failed": "✗", "in part": "▲", "stale": "▲", "skipped": "·", "indexed": "✓"}


@dataclass(frozen=True, slots=True)
class Shelved:
    """One document, or what is skipped for one reason.

    name: of the document; "" for what is skipped, of which only the number is known.
    told: why, or what read it. hint: what to do about it.
    """

    standing: Standing
    name: str
    told: str
    hint: str = ""

    def holds(self, needle: str) -> bool:
        """Whether the needle, casefolded, stands in it."""
        return needle in f"{self.name} {self.told} {self.standing}".casefold()


def shelve(status: FolderStatus, sources: Mapping[str, Source]) -> list[Shelved]:
    """Failed ones first, then read in part, stale, skipped, indexed; by name among each other."""
    failed = [Shelved("failed", each.name, each.reason, each.hint) for each in status.failures]
    named = {each.name for each in failed}
    rest: dict[Standing, list[Shelved]] = {standing: [] for standing in STANDINGS}
    for name, source in sources.items():
        if name in named or source.state == "failed":
            continue
        if name in status.outdated or status.made_otherwise:
            why = "made otherwise than it would be now" if status.made_otherwise else "changed since, or gone"
            rest["stale"].append(Shelved("stale", name, why, "re-index the folder"))
        elif name in status.gaps:
            rest["in part"].append(Shelved("in part", name, "; ".join(status.gaps[name])))
        else:
            rest["indexed"].append(_indexed(name, source))
    rest["skipped"] = [
        Shelved("skipped", "", f"{count(number, 'file')}: {why}", _HINTS.get(why, ""))
        for why, number in status.skipped.items()
        if number
    ]
    rest["failed"] = failed
    return [each for standing in STANDINGS for each in sorted(rest[standing], key=lambda row: row.name)]


def _indexed(name: str, source: Source) -> Shelved:
    kind, _, version = source.extractor.partition("/")
    told = f"{kind} · {source.day}" if source.day else kind
    read = f"Read as {kind}, by version {version} of its reader."
    dated = f" {source.day} is its date, for the filters after: and before:." if source.day else ""
    return Shelved("indexed", name, told, f"{read}{dated}")


_HINTS = {
    "hidden": "its name, or that of its folder, begins with a dot",
    "ignored": "by .gitignore, .ragchatignore or the settings (notes.exclude)",
    "link out of the folder": "what a link leads to outside is not read; move it in, or open that folder",
}


def counted(rows: Sequence[Shelved], skipped: int) -> str:
    """ "412 indexed · 2 failed · 4 skipped", without what there is none of."""
    numbers = {standing: sum(row.standing == standing for row in rows) for standing in STANDINGS}
    numbers["skipped"] = skipped
    order: tuple[Standing, ...] = ("indexed", "failed", "in part", "stale", "skipped")
    parts = [f"{numbers[standing]:,} {standing}" for standing in order if numbers[standing]]
    return " · ".join(parts) or one_line("nothing is indexed yet")
