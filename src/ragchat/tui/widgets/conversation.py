"""The questions of a folder with their answers, the latest at the bottom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from ragchat.tui import keys
from ragchat.tui.widgets.keeps_place import KeepsPlace

if TYPE_CHECKING:
    from ragchat.answering.turn import Turn
    from ragchat.tui.widgets.turn import TurnView

_AT_ONCE = 8
"""So many earlier turns are drawn at a time: each is a Markdown document."""
_MOST_DRAWN = 24
"""Each word of an answer lays out all that are drawn; of more turns, the oldest join the earlier ones."""


class _Earlier(Static):
    """Stands for earlier turns that are not drawn yet."""

    def on_click(self, event: Click) -> None:
        event.stop()
        self.run_worker(self.query_ancestor(Conversation).show_earlier())


class Conversation(KeepsPlace):
    """Keeps to the end while an answer grows, then to its beginning; the sources are of the selected turn."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.PANE, *keys.CONVERSATION]
    FOCUS_ON_CLICK = False
    """A click selects a turn or opens a source; what is typed afterwards still goes to the prompt."""

    class TurnChosen(Message):
        """Another turn's sources are to be shown."""

        def __init__(self, turn: TurnView) -> None:
            self.turn = turn
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="conversation")
        self.border_title = "Conversation"
        self.selected: TurnView | None = None
        self._older: list[Turn] = []

    def compose(self) -> ComposeResult:
        """Nothing yet but a place for the empty state."""
        yield Static(id="empty")

    def say_empty(self, content: Content) -> None:
        """One sentence, one key, one alternative, while there are no turns."""
        self.query_one("#empty", Static).update(content)

    @property
    def turns(self) -> list[TurnView]:
        """The turns that are drawn, oldest first. The first frame asks for them: their module comes later."""
        return cast("list[TurnView]", list(self.query_children(".turn")))

    async def begin_turn(self, question: str, follows: str = "") -> TurnView:
        """A new turn at the bottom; the view follows it."""
        from ragchat.tui.widgets.turn import TurnView

        self.query_one("#empty").display = False
        await self._put_oldest_away()
        turn = TurnView(question, follows)
        await self.mount(turn)
        self.select(turn)
        self.follow_end()
        return turn

    async def restore(self, turns: Sequence[Turn]) -> None:
        """The folder's kept turns; only the latest are drawn at first."""
        await self.clear()
        self._older = list(turns)
        if turns:
            self.query_one("#empty").display = False
            await self.show_earlier()
            self.select(self.turns[-1])
            self.hold(self.turns[-1].beginning)

    async def show_earlier(self) -> None:
        """Draw some more of the earlier turns, above the others."""
        from ragchat.tui.evidence import evidence_of_turn
        from ragchat.tui.widgets.turn import TurnView

        batch, self._older = self._older[-_AT_ONCE:], self._older[:-_AT_ONCE]
        first = self.turns[0] if self.turns else None
        views = [TurnView(turn.question, turn.follows) for turn in batch]
        await self.mount_all(views, before=first)
        for view, turn in zip(views, batch, strict=True):
            await view.restore(turn, evidence_of_turn(turn) if turn.was_asked else None)
        await self._tell_of_earlier()

    async def _tell_of_earlier(self) -> None:
        await self.query_children(_Earlier).remove()
        if self._older:
            line = f"▴ {len(self._older):,} earlier turns · ↑ or a click shows them"
            await self.mount(_Earlier(Content(line), classes="earlier"), before=self.turns[0])

    async def _put_oldest_away(self) -> None:
        """Make room for another turn."""
        turns = self.turns
        if len(turns) < _MOST_DRAWN:
            return
        going = [turn for turn in turns[: len(turns) - _MOST_DRAWN + _AT_ONCE] if turn.kept is not None]
        self._older += [turn.kept for turn in going if turn.kept is not None]
        if self.selected in going:
            self.selected = None
        for turn in going:
            await turn.remove()
        await self._tell_of_earlier()

    async def forget(self, turn_id: str) -> None:
        """Take a turn away; its neighbour is selected."""
        turns = self.turns
        at = next((at for at, turn in enumerate(turns) if turn.kept_id == turn_id), None)
        if at is None:
            return
        await turns[at].remove()
        left = self.turns
        if left:
            self.select(left[min(at, len(left) - 1)])
        elif self._older:
            await self.restore(self._older)
        else:
            await self.clear()

    async def all_is_indexed(self) -> None:
        """What was said of notes that are not indexed yet holds no longer."""
        await self.query("Note.passing").remove()

    async def clear(self) -> None:
        """No turns at all."""
        self.selected = None
        self._older = []
        self.let_go()
        await self.query_children(_Earlier).remove()
        await self.query_children(".turn").remove()
        self.query_one("#empty").display = True

    def select(self, turn: TurnView) -> None:
        """Mark the turn and show its sources."""
        if self.selected is not None:
            self.selected.remove_class("selected")
        self.selected = turn
        turn.add_class("selected")
        self.post_message(self.TurnChosen(turn))

    def on_turn_view_selected(self, message: TurnView.Selected) -> None:
        """A click on a turn."""
        message.stop()
        self.select(message.turn)

    async def action_previous_turn(self) -> None:
        """Select the turn above, from the beginning of this one; at the top, draw earlier ones."""
        if self.selected is not None and (hidden := self.hidden_above(self.selected)):
            self._read_on(-hidden)
            return
        at = self._position()
        if at == 0 and self._older:
            await self.show_earlier()
            at = self._position()
        self._go(at - 1)

    def action_next_turn(self) -> None:
        """Select the turn below, from the end of this one."""
        if self.selected is not None and (hidden := self.hidden_below(self.selected)):
            self._read_on(hidden)
            return
        self._go(self._position() + 1)

    def _read_on(self, rows: int) -> None:
        """Half a page further in a turn that is longer than the view, at most so many rows."""
        half = max(1, self.size.height // 2)
        self.scroll_relative(y=max(-half, min(rows, half)), animate=False)

    def show_beginning(self, turn: TurnView) -> None:
        """An answer is there: from where it begins, unless the reader has scrolled elsewhere meanwhile."""
        if self.is_led:
            self.hold(turn.beginning)

    def _position(self) -> int:
        return self.turns.index(self.selected) if self.selected in self.turns else len(self.turns)

    def _go(self, position: int) -> None:
        turns = self.turns
        if not turns:
            return
        turn = turns[max(0, min(position, len(turns) - 1))]
        self.select(turn)
        turn.scroll_visible(top=turn.size.height > self.size.height, animate=False)
