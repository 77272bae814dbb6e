"""A page with a line at its foot to type words into, for what the page then finds or lists."""

from __future__ import annotations

from textual import on
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from ragchat.tui.widgets.find_line import FindLine


class FindsWords(Screen[None]):
    """Tells `take_words` what is typed; enter and the arrows go back to the page, escape ends the search."""

    @property
    def found_in(self) -> Widget:
        """What has the focus while nothing is typed."""
        raise NotImplementedError

    def take_words(self, words: str) -> None:
        """Find or list what holds these words; everything for none."""
        raise NotImplementedError

    def action_find(self) -> None:
        """Type what to find."""
        self.query_one(FindLine).ask()

    def action_end_find(self) -> None:
        """Everything again."""
        self.query_one(FindLine).end()
        self.found_in.focus()

    def action_leave_find(self) -> None:
        """Go on in what is found."""
        self.found_in.focus()

    @on(Input.Changed)
    def _words_typed(self, event: Input.Changed) -> None:
        self.take_words(event.value.strip())

    @on(Input.Submitted)
    def _words_entered(self) -> None:
        self.found_in.focus()
