"""A question with two answers, asked before something costly."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from ragchat.tui import page_keys
from ragchat.tui.formatting import count, folder_name, megabytes, shown
from ragchat.tui.keys import key_for
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.index.progress import Survey


class ConfirmScreen(Dialog[bool]):
    """True for yes."""

    BINDINGS = page_keys.CONFIRM
    CSS_PATH = "../styles/dialog.tcss"
    escape_label = "No"

    def __init__(self, title: str, body: Content) -> None:
        super().__init__()
        self._title = title
        self._body = body

    def compose(self) -> ComposeResult:
        """The question and its keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            yield Static(self._body, classes="body")
            yield KeyBar()

    def action_yes(self) -> None:
        """Go on."""
        self.dismiss(True)

    def action_no(self) -> None:
        """Leave it."""
        self.dismiss(False)


def ask_about_folder(folder: Path, survey: Survey) -> ConfirmScreen:
    """Before a huge or unusual folder is read: why we ask, how much it is."""
    skipped = sum(survey.skipped.values())
    body = Content.assemble(
        ("▲ ", "$warning"),
        (shown(survey.confirm), "bold"),
        "\n\n",
        f"{folder_name(folder)} holds {count(survey.files, 'file')}, {megabytes(survey.bytes)}",
        f" ({skipped:,} more are skipped)." if skipped else ".",
        (f"\n\nNo leaves it unread; {key_for('chat.reindex')} asks again.", "$quiet"),
    )
    return ConfirmScreen("Index this folder?", body)
