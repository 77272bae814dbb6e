"""The model's reasoning: folded, apart from the answer, with how long it took."""

from __future__ import annotations

from time import monotonic

from textual.content import Content
from textual.widgets import Static

from ragchat.tui.formatting import shown
from ragchat.tui.keys import key_for


class ThinkingFold(Static):
    """Not there until there is some; class `open` while it is unfolded."""

    def __init__(self) -> None:
        super().__init__(classes="thinking")
        self._words = ""
        self._since = 0.0
        self._seconds: float | None = None
        self.display = False

    def add(self, text: str) -> None:
        """A piece more."""
        self._since = self._since or monotonic()
        self._words += text
        self.display = True
        self._draw()

    def end(self, seconds: float | None) -> None:
        """It is whole. seconds: that it took, by the answer's own clock; None when that does not know."""
        if self._words:
            self._seconds = self._so_far() if seconds is None else seconds
            self._draw()

    def toggle(self) -> bool:
        """Unfold or fold it; False where there is none."""
        if self._words:
            self.toggle_class("open")
            self._draw()
        return bool(self._words)

    def on_click(self) -> None:
        """As the key does; the click selects the turn too."""
        self.toggle()

    def _so_far(self) -> float:
        return monotonic() - self._since

    def _draw(self) -> None:
        unfolded = self.has_class("open")
        took = (
            f"thinking … {self._so_far():.0f} s"
            if self._seconds is None
            else f"thought for {self._seconds:.1f} s"
        )
        line = (
            f"{'▾' if unfolded else '▸'} {took} · {len(self._words):,} characters, not part of the answer · "
        )
        words = f"\n{shown(self._words.strip())}" if unfolded else ""
        self.update(Content.assemble(line, (key_for("chat.show_thinking"), "$accent"), words))
