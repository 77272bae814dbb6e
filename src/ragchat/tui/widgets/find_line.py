"""A line to type into at the foot of a page, for what the page then finds or lists."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class FindLine(Input):
    """Hidden until it is asked for; escape ends the search, enter and the arrows leave it as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.end_find", "All", key_display="esc"),
        Binding("down,up", "screen.leave_find", "", show=False),
    ]

    def __init__(self, placeholder: str) -> None:
        super().__init__(placeholder=placeholder, compact=True, select_on_focus=False, classes="find-line")
        self.display = False

    def ask(self) -> None:
        """Show the line and type into it."""
        self.display = True
        self.screen.set_focus(self)  # at once: what is typed next is for this line

    def end(self) -> None:
        """Empty it and hide it again."""
        self.value = ""
        self.display = False
