"""Notes that are gone, and which new ones have their contents: a moved note keeps its vectors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ragchat.index.source import Source


class Moves:
    """gone: names that the folder no longer has. known: what the index knows of its notes."""

    def __init__(self, gone: Iterable[str], known: Mapping[str, Source]) -> None:
        self._gone = tuple(gone)
        self._known = known
        self._by_digest: dict[str, list[str]] = defaultdict(list)
        for name in self._gone:
            if known[name].state == "indexed":
                self._by_digest[known[name].digest].append(name)
        self._under_way: set[str] = set()
        self._arrived: set[str] = set()

    def begin(self, source: Source) -> str:
        """The vanished document whose content this new one has, or ""; each serves one new one."""
        if source.name in self._known or not self._by_digest.get(source.digest):
            return ""
        old = self._by_digest[source.digest].pop(0)
        self._under_way.add(old)
        return old

    def end(self, old: str) -> None:
        """The new one is in the index."""
        self._under_way.remove(old)
        self._arrived.add(old)

    def left_behind(self) -> Iterator[tuple[str, bool]]:
        """Names to be removed, and whether each is gone for good rather than moved.

        One whose new note still waits for its vectors stays: it holds most of them.
        """
        for name in self._gone:
            if name not in self._under_way:
                yield name, name not in self._arrived
