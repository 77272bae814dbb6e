"""One note below an answer: a label, and words that wrap beside it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Static

from ragchat.tui.widgets.turn_notes import Line


class Note(Horizontal):
    """Labels of one answer share a column, as wide as the widest of them."""

    def __init__(self, line: Line, label_width: int) -> None:
        super().__init__(classes="passing" if line.passing else None)
        self._line = line
        self._label_width = label_width

    def compose(self) -> ComposeResult:
        """Label and words."""
        label = Static(self._line.label, classes="label")
        label.styles.width = self._label_width + 1
        yield label
        yield Static(self._line.words)


def notes_for(lines: list[Line]) -> list[Note]:
    """The widgets of some lines."""
    width = max((line.label.cell_length for line in lines), default=0)
    return [Note(line, width) for line in lines]
