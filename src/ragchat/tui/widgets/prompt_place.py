"""Holds the prompt's place in the first frame: the editor behind the prompt takes a while to import."""

from __future__ import annotations

from textual.widgets import Static

PROMPT_TITLES = ("Ask your notes", "enter ask · ctrl+j new line")


class PromptPlace(Static):
    """Looks like the empty prompt."""

    def __init__(self) -> None:
        super().__init__(id="prompt-place", classes="prompt")
        self.border_title, self.border_subtitle = PROMPT_TITLES
