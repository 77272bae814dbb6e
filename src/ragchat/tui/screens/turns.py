"""What the main screen does with a turn and its sources: select, open, inspect, unfold, copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from ragchat.tui.formatting import beginning
from ragchat.tui.keys import key_for
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

    @on(SourcesPanel.CopyWanted)
    def _copy_quote(self, message: SourcesPanel.CopyWanted) -> None:
        source = message.source
        words, what = (source.citation, "the citation") if message.citation else (source.quote, "the quote")
        self.ragchat.copy(words, what)

    @on(SourcesPanel.OpenWanted)
    def _open_wanted(self, message: SourcesPanel.OpenWanted) -> None:
        evidence = self.evidence
        if evidence is not None:
            self.ragchat.view_sources(evidence.listed, message.position, self._own_question())

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
        self.ragchat.view_sources(evidence.listed, number - 1, self._own_question())

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
        selected, evidence = self.conversation.selected, self.evidence
        if selected is None or evidence is None or evidence.trace is None:
            self.notify("Candidates are known for questions of this session: ask again to see them.")
            return
        from ragchat.tui.screens.inspector import InspectorScreen

        limit = self.ragchat.settings.retrieval.sources
        self.app.push_screen(InspectorScreen(evidence.trace, selected.answer, limit))

    def can_copy(self, *, code: bool) -> bool:
        """Whether the selected turn holds words to copy, or a block of code."""
        turn = self.conversation.selected
        if turn is None or not code:
            return turn is not None and bool(turn.copyable)
        from ragchat.answering.markdown import code_blocks

        return bool(code_blocks(turn.text))

    def action_copy_turn(self) -> None:
        """Copy the selected turn's answer."""
        if (turn := self._selected()) is not None:
            self._copy(turn)

    def action_copy_code(self) -> None:
        """Copy a code block of the selected answer; pressed again, the next one."""
        from ragchat.answering.markdown import code_blocks

        if (turn := self._selected()) is None:
            return
        blocks = code_blocks(turn.text)
        if not blocks:
            self.notify("This answer has no code block.", severity="warning")
            return
        at = turn.next_code % len(blocks)
        turn.next_code = at + 1
        which = f"code block {at + 1} of {len(blocks)}" if len(blocks) > 1 else "the code block"
        self.ragchat.copy(blocks[at], which)

    async def action_ask_again(self) -> None:
        """Ask the selected question once more; the earlier answer stays."""
        if (turn := self._selected()) is not None and self._is_free():
            await self.ask(turn.question, follows=turn.follows)

    def action_edit_question(self) -> None:
        """The selected question into the prompt."""
        if (turn := self._selected()) is not None:
            self.prompt.give_back(turn.question)
            self.write()

    def action_mark_refused(self) -> None:
        """The notes have no answer to the selected question: keep it for `eval` and `calibrate`."""
        turn, session = self._selected(), self.session
        if turn is None or session is None:
            return
        if turn.follows:
            self.notify(
                "A follow-up does not stand alone: ask it in full, then mark that.", severity="warning"
            )
            return
        from ragchat.answering.filter_words import without_filters

        session.collecting.mark_refused(without_filters(turn.question))

    def action_take_back(self) -> None:
        """Undo the last mark."""
        if self.session is not None:
            self.session.collecting.undo()

    def action_delete_turn(self) -> None:
        """Delete the selected turn, after asking."""
        from textual.content import Content

        from ragchat.tui.screens.confirm import ConfirmScreen

        turn, session = self._selected(), self.session
        if turn is None or session is None or not self._is_free():
            return

        def answered(yes: bool | None) -> None:
            if yes:
                session.talks.forget_turn(turn.kept_id)

        question = (beginning(turn.question, 3, 200), "bold")
        body = Content.assemble(question, "\n\nQuestion and answer are forgotten for good.")
        self.app.push_screen(ConfirmScreen("Delete this turn?", body), answered)

    def action_branch(self) -> None:
        """Go on from the selected turn in a new conversation."""
        if (turn := self._selected()) is not None and self.session is not None and self._is_free():
            self.session.talks.branch(turn.kept_id)
            self.write()
            self.notify(
                f"A new conversation with the turns up to here; {key_for('chat.conversations')} lists both."
            )

    def action_conversations(self) -> None:
        """All conversations of the folder."""
        from ragchat.tui.commands import show_conversations

        if self._is_free():
            show_conversations(self.ragchat)

    def action_new_conversation(self) -> None:
        """Begin a new one; the open one stays."""
        if self.session is not None and self.session.is_open and self._is_free():
            self.session.talks.begin()
            self.write()

    def _own_question(self) -> str:
        """The selected turn's question; "" for a follow-up, which means nothing alone."""
        selected, evidence = self.conversation.selected, self.evidence
        return "" if selected is None or evidence is None or selected.follows else evidence.question

    def _selected(self) -> TurnView | None:
        if (turn := self.conversation.selected) is None:
            self.notify("There is no turn yet.", severity="warning")
        return turn

    def _is_free(self) -> bool:
        """Whether no answer is on its way; says so otherwise."""
        busy = self.session is not None and self.session.questions.asking
        if busy:
            self.notify("Still answering: esc stops it.", severity="warning")
        return not busy

    def action_copy_answer(self) -> None:
        """Copy the last answer."""
        turns = [turn for turn in self.conversation.turns if turn.copyable]
        if turns:
            self._copy(turns[-1])
        else:
            self.notify("There is no answer to copy yet.", severity="warning")

    def _copy(self, turn: TurnView) -> None:
        self.ragchat.copy(turn.copyable, "the answer")
