"""Letters on everything that can be gone to; typing one goes there."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.events import Click, Key
from textual.widgets import Static

from ragchat.tui import page_keys
from ragchat.tui.jumping import Place
from ragchat.tui.screens.dialog import Dialog


class JumpScreen(Dialog[Place | None]):
    """The place that was chosen; any other key leaves all as it is."""

    BINDINGS = page_keys.JUMP
    CSS_PATH = "../styles/jump.tcss"

    def __init__(self, letters: Mapping[str, Place]) -> None:
        super().__init__()
        self._letters = letters

    def compose(self) -> ComposeResult:
        """One label a place."""
        for letter, place in self._letters.items():
            label = Static(letter, classes="letter", markup=False)
            label.styles.offset = place.at
            yield label

    def on_key(self, event: Key) -> None:
        """Go there; or leave."""
        event.stop()
        self.dismiss(self._letters.get(event.character or ""))

    def on_click(self, _event: Click) -> None:
        """The mouse needs no letters."""
        self.dismiss(None)

    def action_cancel(self) -> None:
        """Stay."""
        self.dismiss(None)
