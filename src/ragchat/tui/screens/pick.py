"""Choose one of a few things from a list: a model, a theme."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import page_keys
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen, and how it is shown."""

    value: str
    shown: Content


class PickScreen(Dialog[str | None]):
    """The chosen value; None when nothing was. `preview` is told each value the cursor comes to."""

    BINDINGS = page_keys.LIST
    CSS_PATH = "../styles/dialog.tcss"

    def __init__(
        self,
        title: str,
        note: Content,
        choices: Sequence[Choice],
        *,
        current: str = "",
        preview: Callable[[str], None] | None = None,
    ) -> None:
        super().__init__(classes="-preview" if preview is not None else "")
        self._title = title
        self._note = note
        self._choices = choices
        self._current = current
        self._preview = preview

    def compose(self) -> ComposeResult:
        """A note, the list, the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            yield Static(self._note, classes="body")
            yield OptionList(*[Option(self._marked(choice)) for choice in self._choices])
            yield Static(Content.assemble(("enter", "bold $accent"), " chooses"), classes="body")
            yield KeyBar()

    def on_mount(self) -> None:
        """Start at what is in use."""
        values = [choice.value for choice in self._choices]
        if self._current in values:
            self.query_one(OptionList).highlighted = values.index(self._current)

    def _marked(self, choice: Choice) -> Content:
        return Content.assemble(("✓ " if choice.value == self._current else "  ", "$success"), choice.shown)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what it would be like."""
        if self._preview is not None:
            self._preview(self._choices[event.option_index].value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Chosen."""
        self.dismiss(self._choices[event.option_index].value)

    def action_cancel(self) -> None:
        """Nothing changes."""
        if self._preview is not None and self._current:
            self._preview(self._current)
        self.dismiss(None)
