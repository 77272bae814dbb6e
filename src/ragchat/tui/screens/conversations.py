"""The folder's conversations: search them, go on with one, give it a title, delete it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import page_keys
from ragchat.tui.formatting import count, one_line
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.conversations import Summary
    from ragchat.tui.talk_desk import TalkDesk

_EVERY_SECONDS = 0.1
_WIDEST, _AROUND = 78, 11
"""Of the dialog; and its border, its padding, the scrollbar and the mark of the open one."""
_ROOMY = 56
"""So many columns have room for the time of day."""


class ConversationsScreen(Dialog[str | None]):
    """The conversation to go on with; None for the open one. What is typed searches titles and words."""

    BINDINGS = page_keys.CONVERSATIONS
    CSS_PATH = "../styles/dialog.tcss"

    def __init__(self, desk: TalkDesk) -> None:
        super().__init__()
        self._desk = desk
        self._shown: tuple[Summary, ...] | None = None
        self._renaming = ""

    def compose(self) -> ComposeResult:
        """A line to search in, the list, what enter does."""
        with Vertical(classes="dialog lines") as dialog:
            dialog.border_title = "Conversations"
            yield Input(placeholder="search questions and answers", select_on_focus=False)
            yield OptionList()
            yield Static(classes="body")
            yield KeyBar()

    def on_mount(self) -> None:
        """Look now; the keys of the list work from the line above it."""
        self._desk.summaries = None
        self._desk.look()
        self.set_interval(_EVERY_SECONDS, self._draw)

    def offers(self, action: str) -> bool:
        """What is done to a conversation needs one."""
        return action not in ("rename", "forget") or self._highlighted() is not None

    def on_key(self, event: Key) -> None:
        """Up and down move in the list while one types."""
        options = self.query_one(OptionList)
        if event.key in ("up", "down") and self.focused is not options:
            event.stop()
            move = options.action_cursor_up if event.key == "up" else options.action_cursor_down
            move()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        if not self._renaming:
            self._desk.look(event.value)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        if self._renaming:
            self._desk.rename(self._renaming, event.value)
            self._stop_renaming()
        elif (summary := self._highlighted()) is not None:
            self.dismiss(summary.id)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss((self._shown or ())[event.option_index].id)

    def action_rename(self) -> None:
        """The line above takes the new title."""
        if (summary := self._highlighted()) is not None:
            self._renaming = summary.id
            line = self.query_one(Input)
            line.value = summary.title
            line.cursor_position = len(summary.title)  # not where it stood among the words that were searched
            line.focus()
            self._draw(force=True)

    def action_forget(self) -> None:
        """Delete the highlighted one, after asking."""
        from ragchat.tui.screens.confirm import ConfirmScreen

        summary = self._highlighted()
        if summary is None:
            return
        name = summary.id

        def answered(yes: bool | None) -> None:
            if yes:
                self._desk.forget(name)

        gone = f"\n\n{count(summary.turns, 'turn')}: forgotten for good."
        body = Content.assemble((one_line(summary.title, 120), "bold"), gone)
        self.app.push_screen(ConfirmScreen("Delete this conversation?", body), answered)

    def action_cancel(self) -> None:
        """Leave the title; else leave."""
        if self._renaming:
            self._stop_renaming()
        else:
            self.dismiss(None)

    def _stop_renaming(self) -> None:
        self._renaming = ""
        self.query_one(Input).value = ""
        self._draw(force=True)

    def _highlighted(self) -> Summary | None:
        at, shown = self.query_one(OptionList).highlighted, self._shown or ()
        return shown[at] if at is not None and at < len(shown) else None

    def _draw(self, *, force: bool = False) -> None:
        found = self._desk.summaries
        if found is None or (found is self._shown and not force):
            return
        options, at = self.query_one(OptionList), 0
        if self._shown and (before := self._highlighted()) is not None:
            at = next((n for n, each in enumerate(found) if each.id == before.id), 0)
        self._shown = found
        options.set_options([Option(self._line(summary)) for summary in found])
        options.highlighted = at if found else None
        self.query_one(".body", Static).update(self._words(found))
        self.refresh_bindings()

    def _words(self, found: tuple[Summary, ...]) -> Content:
        if self._renaming:
            return Content.assemble(("enter", "bold $accent"), " keeps the title; an empty one: none")
        if not found:
            return Content("Nothing is found." if self.query_one(Input).value else "There is none yet.")
        return Content.assemble(("enter", "bold $accent"), " goes on with it")

    def _line(self, summary: Summary) -> Content:
        here = "✓ " if summary.id == self._desk.current.id else "  "
        room = min(_WIDEST, self.app.size.width * 24 // 25) - _AROUND
        when = f"{summary.used_at:%Y-%m-%d %H:%M}" if room >= _ROOMY else f"{summary.used_at:%Y-%m-%d}"
        facts = f"  {summary.turns:>3}  {when}"
        title = Content(one_line(summary.title, 200)).truncate(room - len(facts), ellipsis=True, pad=True)
        return Content.assemble((here, "$success"), title, (facts, "$quiet"))
