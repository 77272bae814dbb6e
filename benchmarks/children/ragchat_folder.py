"""ragchat's update of a folder whose index is there: nothing changed, one paragraph changed."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from benchmarks.children.serve import serve
from ragchat.answering.workspace import Workspace
from ragchat.index.progress import IndexReport
from ragchat.settings import Settings

_EDITED = "edited.md"
_PARAGRAPHS = 40
_STOCK = "the lease boiler garden ends begins with after letter month year tenant house is in of and on"


class Folder:
    """One workspace, kept open as the screen keeps it."""

    def __init__(self) -> None:
        self._workspace: Workspace
        self._folder: Path

    def load(self, request: dict[str, Any]) -> None:
        """Which folder."""
        self._folder = Path(request["folder"])
        self._workspace = Workspace(self._folder, Settings())

    def walk(self, request: dict[str, Any]) -> None:
        """What no comparison can do without: list every folder, stat every file."""
        todo = [str(self._folder)]
        while todo:
            with os.scandir(todo.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    else:
                        entry.stat(follow_symlinks=False)

    def update(self, request: dict[str, Any]) -> dict[str, Any]:
        """Bring the index up to date."""
        return _told(self._workspace.update())

    def write(self, request: dict[str, Any]) -> None:
        """A note of forty paragraphs, one of which is another in every round."""
        texts = [f"Paragraph {number}. {self._words(number)}" for number in range(_PARAGRAPHS)]
        at = request["round"] % _PARAGRAPHS
        texts[at] = f"Round {request['round']}. {self._words(at + 1000 * (request['round'] + 1))}"
        (self._folder / _EDITED).write_text("# Edited\n\n" + "\n\n".join(texts) + "\n", encoding="utf-8")

    def embed(self, request: dict[str, Any]) -> dict[str, Any]:
        """One passage of that note, embedded: the model's part of an edit."""
        embedder = self._workspace.embedder()
        texts = [f"[Edited]\nParagraph 1. {self._words(request['round'])}"] * request["chunks"]
        start = time.perf_counter()
        embedder.embed_passages(texts)
        return {"seconds": time.perf_counter() - start}

    @staticmethod
    def _words(seed: int) -> str:
        """Some sixty plain words, which no other paragraph has in this order."""
        stock = _STOCK.split()
        return (
            " ".join(stock[(seed * 7 + number * number) % len(stock)] for number in range(60)) + f" {seed}."
        )


def _told(report: IndexReport) -> dict[str, Any]:
    return {
        "embedded": report.chunks_embedded,
        "unchanged": report.unchanged,
        "changed": report.added + report.updated + report.removed,
    }


def main() -> None:
    """Serve until the parent has enough."""
    folder = Folder()
    serve(
        {
            "load": folder.load,
            "walk": folder.walk,
            "update": folder.update,
            "write": folder.write,
            "embed": folder.embed,
        }
    )


if __name__ == "__main__":
    main()
