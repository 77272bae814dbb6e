"""Holds the prompt's place in the first frame: the editor behind the prompt takes a while to import."""

from __future__ import annotations

from textual.events import Key
from textual.widgets import Static

PROMPT_TITLES = ("Ask your notes", "enter ask · ctrl+j new line")


class PromptPlace(Static, can_focus=True):
    """Looks like the empty prompt, and keeps what is typed until the prompt is there."""

    def __init__(self) -> None:
        super().__init__(id="prompt-place", classes="prompt")
        self.border_title, self.border_subtitle = PROMPT_TITLES
        self.typed = ""

    def on_key(self, event: Key) -> None:
        """Keep it."""
        if event.is_printable and event.character is not None:
            event.stop()
            self.typed += event.character
