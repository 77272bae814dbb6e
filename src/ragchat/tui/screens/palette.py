"""The command palette: type a few letters of an action, document, section, conversation, model, setting."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import page_keys
from ragchat.tui.formatting import count
from ragchat.tui.fuzzy import best
from ragchat.tui.palette_items import Item, at_hand, looked_up, of_models
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session

_MOST = 60
_WIDEST, _AROUND = 96, 9
"""Of the dialog; and its border, its padding and the scrollbar."""
_KIND_CELLS = 12


class Found(Message):
    """What the folder holds, or the server."""

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        super().__init__()


class PaletteScreen(Dialog[Item | None]):
    """The chosen row; None when none was. Nothing typed: the actions, those that are used most first."""

    BINDINGS = page_keys.PALETTE
    CSS_PATH = "../styles/dialog.tcss"

    def __init__(self) -> None:
        super().__init__()
        self._items: list[Item] = []
        self._sought: list[str] = []
        self._rows: list[Item] = []
        self._for: str | None = None

    def compose(self) -> ComposeResult:
        """A line to type in, what is found, how much there is."""
        with Vertical(classes="dialog lines palette") as dialog:
            dialog.border_title = "Commands"
            yield Input(placeholder="action, document, section, conversation, model …", select_on_focus=False)
            yield OptionList()
            yield Static(classes="body")
            yield KeyBar()

    def on_mount(self) -> None:
        """What is at hand now; the rest when it is found."""
        app = cast("RagchatApp", self.app)
        self._add(list(at_hand(app)))
        session = app.session
        if session is not None and session.is_open:
            self._look_up(session)
        self._rank()

    def on_key(self, event: Key) -> None:
        """Up and down move in the list while one types."""
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
    def _typed(self) -> None:
        self._rank()

    @on(Found)
    def _found(self, message: Found) -> None:
        self._add(message.items)
        self._rank()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        """What is highlighted; of words that were not looked for yet, the best."""
        if self._for != event.value:
            self._show(event.value, self._best(event.value, 1))
        at = self.query_one(OptionList).highlighted
        if at is not None:
            self.dismiss(self._rows[at])

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._rows[event.option_index])

    def action_cancel(self) -> None:
        """Nothing."""
        self.dismiss(None)

    def _look_up(self, session: Session) -> None:
        """Read the index and ask the server, each in a thread that nothing waits for."""
        app = cast("RagchatApp", self.app)

        def folder() -> None:
            self.post_message(Found(list(looked_up(app, session))))

        def models() -> None:
            self.post_message(Found(list(of_models(session))))

        for work_ in (folder, models):
            self.run_worker(work_, thread=True, exit_on_error=False, group="look")

    def _add(self, items: list[Item]) -> None:
        self._items += items
        self._sought += [item.sought for item in items]

    @work(exclusive=True, group="rank")
    async def _rank(self) -> None:
        """Many thousand names are looked through in a thread, so that the next letter is not held up."""
        typed = self.query_one(Input).value
        rows = await asyncio.to_thread(self._best, typed, _MOST)
        if self.is_mounted and typed == self.query_one(Input).value:
            self._show(typed, rows)

    def _best(self, typed: str, limit: int) -> list[tuple[Item, tuple[int, ...]]]:
        items = self._items
        if not typed.strip():
            return [(item, ()) for item in items if item.kind == "action"]
        return [(items[match.at], match.letters) for match in best(typed, self._sought, limit)]

    def _show(self, typed: str, rows: list[tuple[Item, tuple[int, ...]]]) -> None:
        self._for, self._rows = typed, [item for item, _ in rows]
        options = self.query_one(OptionList)
        width = min(_WIDEST, self.app.size.width * 24 // 25) - _AROUND
        options.set_options([Option(_row(item, letters, width)) for item, letters in rows])
        options.highlighted = 0 if rows else None
        self.query_one(".body", Static).update(Content.styled(self._counted(typed, len(rows)), "$quiet"))

    def _counted(self, typed: str, shown: int) -> str:
        names = count(len(self._items), "name")
        if not typed.strip():
            return f"{names} · several words narrow it"
        return f"the best {shown} of {names}" if shown >= _MOST else f"{shown} of {names}"


def _row(item: Item, letters: tuple[int, ...], width: int) -> Content:
    name = Content(item.name)
    for at in letters:
        if at < len(item.name):
            name = name.stylize("bold $accent", at, at + 1)
    room = width - _KIND_CELLS - 1
    name = name.truncate(room * 5 // 9 if item.detail else room, ellipsis=True, pad=True)
    detail = Content.styled(f"  {item.detail}" if item.detail else "", "$quiet")
    left = (name + detail).truncate(room, ellipsis=True, pad=True)
    kind = item.key or ("" if item.kind == "action" else item.kind)
    return Content.assemble(left, " ", (f"{kind:>{_KIND_CELLS}}", "$accent" if item.key else "$secondary"))
