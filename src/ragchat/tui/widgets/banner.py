"""One line between the header and the panes, there only while something is going on or wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from ragchat.tui.formatting import bar, one_line, with_keys
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from ragchat.errors import RagchatError
    from ragchat.index.progress import IndexProgress

WORDS = {
    "scanning": "looking for notes",
    "loading model": "loading the embedding model",
    "reading": "reading",
    "indexing": "indexing",
    "calibrating": "finding the threshold for this folder",
    "done": "indexed",
}


class Banner(Static):
    """Progress, or what is wrong with the index and the one key that mends it."""

    def clear(self) -> None:
        """Nothing to say."""
        self.display = False

    def show_progress(self, progress: IndexProgress) -> None:
        """How far indexing has come."""
        parts = [("◐ ", "$accent"), (WORDS[progress.phase], "bold")]
        if progress.phase in ("reading", "indexing") and progress.documents_total:
            reading, total = progress.phase == "reading", progress.documents_total
            done = progress.documents_read if reading else progress.documents_done
            parts += [(f" {done:,} of {total:,} ", ""), (bar(done / total, 12), "$accent")]
        if progress.failed:
            parts.append((f"  ✗ {progress.failed:,} failed ({key_for('chat.show_index')})", "$error"))
        if progress.current:
            parts.append((f"  {one_line(progress.current, 120)}", "$quiet"))
        self._say(Content.assemble(*parts), "progress")

    def show_problem(self, error: RagchatError, remedy: str) -> None:
        """What is wrong, and the key that mends it."""
        parts = [("✗ ", "$error"), (one_line(error.message, 300), "bold")]
        hint = one_line(with_keys(error.hint), 120)
        if hint and hint != remedy:
            parts.append((f" · {hint}", "$quiet"))
        if remedy:
            parts.append((f"\n  {remedy}", "$accent"))
        self._say(Content.assemble(*parts), "problem")

    def show_stale(self, message: str) -> None:
        """The index was made otherwise than it would be now."""
        self._say(
            Content.assemble(
                ("▲ ", "$warning"),
                ("stale: ", "bold"),
                one_line(message, 300),
                (f"\n  {key_for('chat.reindex')} rebuilds the index", "$accent"),
            ),
            "problem",
        )

    def _say(self, content: Content, kind: str) -> None:
        self.set_classes(kind)
        self.display = True
        self.update(content)
