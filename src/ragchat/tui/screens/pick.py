"""Choose one of a few things from a list, found by its name as one types: a theme."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import Input, OptionList, Static
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
        self._shown: Sequence[Choice] = choices

    def compose(self) -> ComposeResult:
        """A note, a line to type in, the list, the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            yield Static(self._note, classes="body")
            yield Input(placeholder="type to find one, enter takes it")
            yield OptionList(*[Option(self._marked(choice)) for choice in self._choices])
            yield KeyBar()

    def on_mount(self) -> None:
        """Start at what is in use."""
        values = [choice.value for choice in self._choices]
        if self._current in values:
            self.query_one(OptionList).highlighted = values.index(self._current)

    def on_key(self, event: Key) -> None:
        """The list is walked while one types."""
        options = self.query_one(OptionList)
        moves: dict[str, Callable[[], None]] = {
            "up": options.action_cursor_up,
            "down": options.action_cursor_down,
            "pageup": options.action_page_up,
            "pagedown": options.action_page_down,
        }
        if event.key in moves and self.focused is not options:
            event.stop()
            moves[event.key]()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """Those whose name holds all that is typed; the first of them is looked at."""
        words = event.value.casefold().split()
        self._shown = [
            choice for choice in self._choices if all(word in choice.value.casefold() for word in words)
        ]
        options = self.query_one(OptionList)
        options.set_options([Option(self._marked(choice)) for choice in self._shown])
        current = next((at for at, choice in enumerate(self._shown) if choice.value == self._current), 0)
        options.highlighted = (0 if words else current) if self._shown else None

    @on(Input.Submitted)
    def _submitted(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(self._shown[at].value)

    def _marked(self, choice: Choice) -> Content:
        return Content.assemble(("✓ " if choice.value == self._current else "  ", "$success"), choice.shown)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show what it would be like."""
        if self._preview is not None:
            self._preview(self._shown[event.option_index].value)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Chosen."""
        self.dismiss(self._shown[event.option_index].value)

    def action_cancel(self) -> None:
        """Nothing changes."""
        if self._preview is not None and self._current:
            self._preview(self._current)
        self.dismiss(None)
