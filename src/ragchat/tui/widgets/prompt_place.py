"""Holds the prompt's place in the first frame: the editor behind the prompt takes a while to import."""

from __future__ import annotations

from textual.widgets import Static

from ragchat.tui.keys import key_for


def prompt_titles() -> tuple[str, str]:
    """What stands in the prompt's border, above and below."""
    return "Ask your notes", f"{key_for('prompt.ask')} ask · {key_for('prompt.new_line')} new line"


class PromptPlace(Static):
    """Looks like the empty prompt."""

    def __init__(self) -> None:
        super().__init__(id="prompt-place", classes="prompt")
        self.border_title, self.border_subtitle = prompt_titles()
