"""One line where a terminal is too small for anything else; it goes away by itself."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from ragchat.tui.formatting import count


class TooSmallScreen(ModalScreen[None]):
    """Covers all; what runs goes on behind it."""

    DEFAULT_CSS = """
    TooSmallScreen { background: $background; }
    TooSmallScreen Static { width: 1fr; height: auto; }
    """

    def __init__(self, columns: int, rows: int) -> None:
        super().__init__()
        self._least = (columns, rows)

    def compose(self) -> ComposeResult:
        """The line."""
        yield Static(self._words())

    def on_resize(self) -> None:
        """How much is missing now."""
        self.query_one(Static).update(self._words())

    def on_screen_resume(self) -> None:
        """What came over it meanwhile has gone, and the terminal may have grown under that."""
        columns, rows = self._least
        if self.app.size.width >= columns and self.app.size.height >= rows:
            self.app.pop_screen()

    def _words(self) -> Content:
        columns, rows = self._least
        width, height = self.app.size
        missing = [
            count(each, what)
            for each, what in ((columns - width, "column"), (rows - height, "row"))
            if each > 0
        ]
        return Content(f"Too small: {' and '.join(missing)} more.")
