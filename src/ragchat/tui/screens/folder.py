"""Open another folder: type its path, or take one of the recent ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import keys
from ragchat.tui.formatting import folder_name
from ragchat.tui.widgets.key_bar import KeyBar


class FolderScreen(ModalScreen[Path | None]):
    """The folder to open; None when none was chosen."""

    BINDINGS = keys.LIST
    CSS_PATH = "../styles/dialog.tcss"

    def __init__(self, recent: Sequence[Path], current: Path | None) -> None:
        super().__init__()
        self._recent = [folder for folder in recent if folder != current]

    def compose(self) -> ComposeResult:
        """A line to type in, the recent folders below."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Open a folder of notes"
            yield Input(placeholder="~/notes", select_on_focus=False)
            yield Static(self._hint(), classes="body")
            yield OptionList(*[Option(Content(folder_name(folder))) for folder in self._recent])
            yield KeyBar()

    def on_mount(self) -> None:
        """No list where there is nothing to list."""
        self.query_one(OptionList).display = bool(self._recent)

    def _hint(self) -> Content:
        if self._recent:
            return Content.assemble(
                ("enter", "$accent"), " opens it · ", ("tab", "$accent"), " recent folders"
            )
        return Content.assemble(("enter", "$accent"), " opens it")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Open what was typed, if it is a folder."""
        typed = event.value.strip().replace("\0", "")
        if not typed:
            return
        folder = Path(typed).expanduser()
        if folder.is_dir():
            self.dismiss(folder)
        else:
            body = self.query_one(".body", Static)
            body.update(Content.assemble(("✗ ", "$error"), f"there is no folder {folder_name(folder)}"))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open a recent one."""
        self.dismiss(self._recent[event.option_index])

    def action_cancel(self) -> None:
        """Stay where we are."""
        self.dismiss(None)
