"""A folder of notes with its index, for the tests of the indexer."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ragchat.embedding.embedder import Matrix
from ragchat.index.progress import IndexReport
from ragchat.index.store import SqliteIndex
from ragchat.settings import NotesSettings
from tests.doubles import WordEmbedder
from tests.index.building import indexer, write
from tests.index.contract import ANYWHERE, found


@dataclass
class Notes:
    """A folder, its index, and an embedder that remembers what it was asked."""

    folder: Path
    index: SqliteIndex
    embedder: WordEmbedder

    def run(
        self, *, rebuild: bool = False, retry: bool = False, notes: NotesSettings | None = None
    ) -> IndexReport:
        self.embedder.texts_embedded.clear()
        return indexer(self.folder, self.index, self.embedder, notes=notes).run(rebuild=rebuild, retry=retry)

    def write(self, **files: str) -> None:
        """Names with `__` for `/`, without the suffix .md. Old enough not to be racy."""
        for name, text in files.items():
            self.write_file(f"{name.replace('__', '/')}.md", text)

    def write_file(self, name: str, text: str) -> None:
        write(self.folder, {name: text})
        an_hour_ago = time.time_ns() - 3600 * 10**9
        os.utime(self.folder / name, ns=(an_hour_ago, an_hour_ago))

    def found(self, words: str) -> list[str]:
        snapshot = self.index.snapshot()
        return found(snapshot, snapshot.lexical(words.split(), 9, ANYWHERE))


class FailingEmbedder(WordEmbedder):
    """Fails on texts with a certain word, as long as it lasts."""

    def __init__(self, word: str) -> None:
        super().__init__(dimensions=64)
        self.word = word

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        if self.word and any(self.word in text for text in texts):
            raise ConnectionError("connection\nreset")
        return super().embed_passages(texts)


def counts(report: IndexReport) -> dict[str, int]:
    keys = ("indexed", "added", "updated", "moved", "removed", "unchanged", "chunks_embedded", "pending")
    return {key: getattr(report, key) for key in keys if getattr(report, key)}
