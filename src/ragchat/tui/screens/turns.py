"""What the main screen does with a turn and its sources: select, open, inspect, unfold, copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from ragchat.tui.screens.questions import AsksQuestions
from ragchat.tui.widgets.conversation import Conversation
from ragchat.tui.widgets.sources import SourcesPanel

if TYPE_CHECKING:
    from ragchat.tui.widgets.prompt import Prompt
    from ragchat.tui.widgets.turn import TurnView


class ActsOnTurns(AsksQuestions):
    """The part of the main screen that acts on the selected turn."""

    @on(Conversation.TurnChosen)
    async def _turn_chosen(self, message: Conversation.TurnChosen) -> None:
        await self.sources.show(message.turn.evidence)
        self.refresh_bindings()

    @on(Conversation.CopyWanted)
    def _copy_turn(self, message: Conversation.CopyWanted) -> None:
        self._copy(message.turn)

    @on(SourcesPanel.CopyWanted)
    def _copy_quote(self, message: SourcesPanel.CopyWanted) -> None:
        self.ragchat.copy(message.source.quote, "the quote")

    @on(SourcesPanel.OpenWanted)
    def _open_wanted(self, message: SourcesPanel.OpenWanted) -> None:
        evidence = self.evidence
        if evidence is not None:
            self.ragchat.view_sources(evidence.listed, message.position)

    def on_answer_text_source_clicked(self, message: object) -> None:
        """`[n]` was clicked in some turn."""
        from ragchat.tui.widgets.answer_text import AnswerText
        from ragchat.tui.widgets.turn import TurnView

        assert isinstance(message, AnswerText.SourceClicked)
        turn = message.answer.query_ancestor(TurnView)
        self.conversation.select(turn)
        self.action_open_source(message.number)

    def action_open_source(self, number: int) -> None:
        """Open source `number` of the selected turn at its range."""
        evidence = self.evidence
        if evidence is None or not 1 <= number <= len(evidence.sources):
            self.notify(f"This answer has no source {number}.", severity="warning")
            return
        self.ragchat.view_sources(evidence.listed, number - 1)

    def on_prompt_copy_wanted(self, message: Prompt.CopyWanted) -> None:
        """What is marked in the prompt."""
        self.ragchat.copy(message.text, "what is marked")

    def action_show_thinking(self) -> None:
        """Unfold or fold the selected turn's thinking."""
        selected = self.conversation.selected
        if selected is None or not selected.toggle_thinking():
            self.notify("This answer came without thinking.", severity="warning")

    def action_inspect(self) -> None:
        """All candidates of the selected turn."""
        evidence = self.evidence
        if evidence is None or evidence.trace is None:
            self.notify("Candidates are known for questions of this session: ask again to see them.")
            return
        from ragchat.tui.screens.inspector import InspectorScreen

        self.app.push_screen(InspectorScreen(evidence.trace))

    def action_copy_answer(self) -> None:
        """Copy the last answer."""
        turns = [turn for turn in self.conversation.turns if turn.copyable]
        if turns:
            self._copy(turns[-1])
        else:
            self.notify("There is no answer to copy yet.", severity="warning")

    def _copy(self, turn: TurnView) -> None:
        self.ragchat.copy(turn.copyable, "the answer")
