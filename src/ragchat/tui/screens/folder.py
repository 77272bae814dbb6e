"""Open another folder: type its path, which is completed, or take one of the recent ones."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import page_keys
from ragchat.tui.folder_paths import completed, folders_like
from ragchat.tui.formatting import folder_name, one_line
from ragchat.tui.keys import key_for
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar


class FolderScreen(Dialog[Path | None]):
    """The folder to open; None when none was chosen."""

    BINDINGS = page_keys.FOLDER
    CSS_PATH = "../styles/dialog.tcss"

    def __init__(self, recent: Sequence[Path], current: Path | None) -> None:
        super().__init__()
        self._recent = [folder for folder in recent if folder != current]
        self._paths: list[str] = []

    def compose(self) -> ComposeResult:
        """A line to type in; below it the folders that begin like that, or the recent ones."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Open a folder of notes"
            yield Input(placeholder="~/notes", select_on_focus=False)
            yield Static(self._hint(), classes="body")
            yield OptionList()
            yield KeyBar()

    def on_mount(self) -> None:
        """The recent ones first."""
        self._list([folder_name(folder) for folder in self._recent])

    def on_key(self, event: Key) -> None:
        """Up and down move in the list while one types."""
        options = self.query_one(OptionList)
        if event.key in ("up", "down") and self.focused is not options and options.option_count:
            event.stop()
            if options.highlighted is None:
                options.highlighted = 0
            else:
                move = options.action_cursor_up if event.key == "up" else options.action_cursor_down
                move()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.query_one(".body", Static).update(self._hint())
        self._look(event.value)

    @work(exclusive=True)
    async def _look(self, typed: str) -> None:
        """What begins like that; a folder on a slow disk holds up no key."""
        paths = await asyncio.to_thread(folders_like, typed.strip()) if typed.strip() else []
        if self.query_one(Input).value == typed:
            self._paths = paths
            self._list(paths if typed.strip() else [folder_name(folder) for folder in self._recent])

    def action_complete(self) -> None:
        """Go on typing what all folders in the list have in common, or the one under the cursor."""
        line, options = self.query_one(Input), self.query_one(OptionList)
        if self._paths and options.highlighted is not None:
            line.value = self._paths[options.highlighted]
        elif self._paths:
            line.value = completed(line.value, self._paths)
        elif options.option_count:
            options.focus()
        line.cursor_position = len(line.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        """Open what was typed, if it is a folder; the one under the cursor comes first."""
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self._open_at(at)
            return
        typed = event.value.strip().replace("\0", "")
        if not typed:
            return
        try:
            folder = Path(typed).expanduser()
            there = folder.is_dir()
        except (OSError, RuntimeError):  # too long a name, a user there is not
            folder, there = Path(typed), False
        if there:
            self.dismiss(folder)
        else:
            words = f"there is no folder {folder_name(folder)}"
            self.query_one(".body", Static).update(Content.assemble(("✗ ", "$error"), words))

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self._open_at(event.option_index)

    def action_cancel(self) -> None:
        """Stay where we are."""
        self.dismiss(None)

    def _open_at(self, at: int) -> None:
        chosen = Path(self._paths[at]).expanduser() if self._paths else self._recent[at]
        self.dismiss(chosen)

    def _list(self, names: Sequence[str]) -> None:
        options = self.query_one(OptionList)
        options.set_options([Option(Content(one_line(name, 300))) for name in names])
        options.highlighted = None
        options.display = bool(names)

    def _hint(self) -> Content:
        tab = (
            "the recent ones" if not self.is_mounted or not self.query_one(Input).value else "goes on typing"
        )
        return Content.assemble(
            ("enter", "$accent"), " opens it · ", (key_for("folder.complete"), "$accent"), f" {tab}"
        )
