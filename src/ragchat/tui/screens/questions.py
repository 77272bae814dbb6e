"""How the main screen asks: what was typed, what is on offer, and what must wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragchat.tui.screens.dialogs import OpensDialogs

if TYPE_CHECKING:
    from ragchat.tui.offers import Offer
    from ragchat.tui.widgets.prompt import Prompt


class AsksQuestions(OpensDialogs):
    """The part of the main screen that hands questions to the session."""

    _held = ""

    async def on_prompt_asked(self, message: Prompt.Asked) -> None:
        """A question was typed."""
        session = self.session
        if session is not None and session.opening and not self._held:
            self._held = message.question
        elif session is None or session.opening or not session.is_open:
            self.prompt.give_back(message.question)
            self.ragchat.say_no_folder()
        elif session.questions.asking:
            self.prompt.give_back(message.question)
            self.notify("Still answering: esc stops it, then ask this.", severity="warning")
        elif message.follows and not self._before():
            self.prompt.give_back(message.question)
            self.notify("There is no question before to follow: enter asks it alone.", severity="warning")
        else:
            self.prompt.add_to_history(message.question)
            await self.ask(message.question, follows=self._before() if message.follows else "")

    def on_completing_names_wanted(self) -> None:
        """A filter is being typed."""
        from ragchat.tui.filter_names import read_filter_names

        if (session := self.session) is not None and session.is_open:
            session.start(lambda: read_filter_names(session))

    def _before(self) -> str:
        """The last question as it was searched; "" where none was."""
        from ragchat.answering.filter_words import followed

        last = next((turn for turn in reversed(self.conversation.turns) if turn.was_asked), None)
        if last is None:
            return ""
        return followed(last.follows, last.question) if last.follows else last.question

    async def ask_held(self) -> None:
        """The folder is open: ask what was asked while it was being opened."""
        question, self._held = self._held, ""
        if question:
            self.prompt.add_to_history(question)
            await self.ask(question)

    def give_back_held(self) -> None:
        """The folder cannot be opened: what was asked meanwhile is not lost."""
        question, self._held = self._held, ""
        if question:
            self.prompt.give_back(question)

    async def ask(
        self,
        question: str,
        *,
        admit: frozenset[int] = frozenset(),
        answer_tokens: int = 0,
        follows: str = "",
    ) -> None:
        """Begin a turn and let the session answer it."""
        from ragchat.tui.question_desk import Asked

        session = self.session
        assert session is not None
        run = session.questions.begin()
        turn = await self.conversation.begin_turn(question, follows)
        self.ragchat.feed.begin(run, turn)
        session.questions.answer(run, Asked(question, admit, answer_tokens, follows))
        self.refresh_bindings()

    @property
    def offer(self) -> Offer | None:
        """What one key would do about the selected turn, or about the model that is missing."""
        selected = self.conversation.selected
        if selected is not None and selected.offer is not None:
            return selected.offer
        feed = self.ragchat.feed if self.session is not None else None
        return feed.missing_model if feed is not None else None

    async def action_take_offer(self) -> None:
        """Ask again as offered, or get the model that is missing."""
        offer, session = self.offer, self.session
        if offer is None or session is None:
            self.notify("Nothing is on offer here.", severity="warning")
        elif offer.kind == "pull":
            session.models.pull(offer.model)
        elif session.questions.asking:
            self.notify("Still answering: esc stops it.", severity="warning")
        else:
            await self.ask(
                offer.question,
                admit=offer.admit,
                answer_tokens=offer.answer_tokens,
                follows=offer.follows,
            )
