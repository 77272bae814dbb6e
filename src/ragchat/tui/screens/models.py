"""Choose the model that answers, or get another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import page_keys
from ragchat.tui.formatting import megabytes, one_line, shown, with_keys
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar
from ragchat.tui.widgets.pull_line import how_far, pull_bar

if TYPE_CHECKING:
    from ragchat.answering.models import ModelEntry
    from ragchat.tui.model_desk import ModelDesk, Pull

_EVERY_SECONDS = 0.2
_LOOK_AGAIN_SECONDS = 3.0
_NAME_CELLS = 26


class ModelScreen(Dialog[str | None]):
    """The model that was chosen; None when none was. A pull goes on when this is left."""

    BINDINGS = page_keys.MODELS
    CSS_PATH = "../styles/dialog.tcss"

    def __init__(self, desk: ModelDesk) -> None:
        super().__init__()
        self._desk = desk
        self._drawn: tuple[tuple[ModelEntry, ...], Pull | None] | None = None

    def compose(self) -> ComposeResult:
        """What each column means, the models, what is being pulled, a line for any other name."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Model"
            yield Static(_row("  model", "size", "context", "", ""), classes="columns", markup=False)
            yield OptionList()
            yield Static("◌ asking the server", classes="body")
            yield Input(placeholder="or any other name, as in mistral:7b", select_on_focus=False)
            yield KeyBar()

    def on_mount(self) -> None:
        """Look now, and follow what changes."""
        self._desk.look()
        self.set_interval(_EVERY_SECONDS, self._draw)
        self.set_interval(_LOOK_AGAIN_SECONDS, self._look_again)
        self.query_one(OptionList).focus()

    def offers(self, action: str) -> bool:
        """Stopping needs something that runs."""
        return action != "stop_pull" or self._pulling is not None

    def action_stop_pull(self) -> None:
        """Stop it; what is downloaded stays."""
        self._desk.stop_pull()

    def action_cancel(self) -> None:
        """Nothing is chosen."""
        self.dismiss(None)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        entry = (self._desk.entries or ())[event.option_index]
        if entry.installed:
            self.dismiss(entry.model.name)
        else:
            self._pull(entry.model.name)

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        name = event.value.strip()
        installed = {each.model.name for each in self._desk.entries or () if each.installed}
        if found := {name, f"{name}:latest"} & installed:
            self.dismiss(found.pop())
        elif name:
            event.input.value = ""
            self._pull(name)

    @property
    def _pulling(self) -> Pull | None:
        pull = self._desk.pulled
        return pull if pull is not None and pull.running else None

    def _pull(self, name: str) -> None:
        if self._pulling is not None:
            self.notify("One download at a time: x stops the one that runs.", severity="warning")
        self._desk.pull(name)
        self._draw()

    def _look_again(self) -> None:
        if self._desk.trouble is not None:
            self._desk.look()

    def _draw(self) -> None:
        """Only what changed since the last time."""
        now = (self._desk.entries or (), self._desk.pulled)
        self.query_one(".body", Static).update(self._standing())
        if now == self._drawn:
            return
        self._drawn, first = now, self._drawn is None or not self._drawn[0]
        options = self.query_one(OptionList)
        at = options.highlighted
        options.set_options([Option(self._line(entry)) for entry in now[0]])
        if first:
            at = next((n for n, entry in enumerate(now[0]) if entry.chosen), 0)
        options.highlighted = at if now[0] else None
        self.refresh_bindings()

    def _standing(self) -> Content:
        """What is going on, or what is wrong and what helps."""
        pull, trouble = self._desk.pulled, self._desk.trouble
        if pull is not None and pull.running:
            words = f"pulling {one_line(pull.model, 40)}  {how_far(pull)}  "
            return Content.assemble(("⇣ ", "$accent"), words, (pull_bar(pull, 20), "$accent"))
        if trouble is not None:
            hint = f"\n  next: {shown(with_keys(trouble.hint))}" if trouble.hint else ""
            return Content.assemble(("✗ ", "$error"), one_line(trouble.message, 200), hint)
        if self._desk.entries is None:
            return Content("◌ asking the server")
        return Content.assemble(("enter", "bold $accent"), " chooses it for this folder, or gets it first")

    def _line(self, entry: ModelEntry) -> Content:
        model = entry.model
        row = _row(
            f"{'✓' if entry.chosen else ' '} {one_line(model.name, _NAME_CELLS - 2)}",
            megabytes(model.size) if model.size else "",
            f"{model.context:,}" if model.context else "",
            "thinks" if model.thinks else "",
            self._state(entry),
        )
        return Content(row) if entry.installed else Content.styled(row, "$quiet")

    def _state(self, entry: ModelEntry) -> str:
        pull = self._desk.pulled
        if pull is not None and pull.model == entry.model.name:
            return "⇣ pulling" if pull.running else f"■ {how_far(pull)}"
        return "installed" if entry.installed else "enter gets it"


def _row(name: str, size: str, context: str, thinks: str, state: str) -> str:
    return f"{name:<{_NAME_CELLS}} {size:>8} {context:>8}  {thinks:<7} {state}".rstrip()
