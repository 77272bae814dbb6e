"""The main screen: conversation, sources, prompt. It shows what the session tells."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.events import Key

from ragchat.tui import keys
from ragchat.tui.empty import opening
from ragchat.tui.screens.dialogs import OpensDialogs
from ragchat.tui.widgets.banner import Banner
from ragchat.tui.widgets.conversation import Conversation
from ragchat.tui.widgets.header import Header, HeaderFacts
from ragchat.tui.widgets.key_bar import KeyBar
from ragchat.tui.widgets.prompt_place import PromptPlace
from ragchat.tui.widgets.sources import SourcesPanel

if TYPE_CHECKING:
    from ragchat.tui.evidence import Evidence
    from ragchat.tui.messages import Told
    from ragchat.tui.session import Session
    from ragchat.tui.widgets.prompt import Prompt
    from ragchat.tui.widgets.turn import TurnView

_ESC_AGAIN_SECONDS = 2.0

_WIDTHS = [(0, "-narrow"), (100, "-wide")]
_HEIGHTS = [(0, "-short"), (20, "-tall")]


def _fitting(breakpoints: list[tuple[int, str]], size: int) -> str:
    return next(name for least, name in reversed(breakpoints) if size >= least)


class ChatScreen(OpensDialogs):
    """Owns the layout and the keys; what the folder's threads tell is put on it by `Feed`."""

    BINDINGS = keys.CHAT
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = _HEIGHTS
    AUTO_FOCUS = ""

    def __init__(self) -> None:
        # Known beforehand, so that the first layout is not styled twice.
        width, height = get_terminal_size()
        super().__init__(classes=f"{_fitting(_WIDTHS, width)} {_fitting(_HEIGHTS, height)}")
        self._leaving = False
        self._typed_early = ""
        self._held = ""

    def compose(self) -> ComposeResult:
        """Only light widgets: this is the first frame."""
        yield Header()
        banner = Banner()
        banner.clear()
        yield banner
        with Container(id="panes"):
            yield Conversation()
            yield SourcesPanel()
        yield PromptPlace()
        yield KeyBar()

    def on_mount(self) -> None:
        """Open the folder once the first frame is on the screen."""
        self.show_folder()
        self.call_after_refresh(self.ragchat.begin)

    @property
    def header(self) -> Header:
        """The top line."""
        return self.query_one(Header)

    @property
    def banner(self) -> Banner:
        """The line for progress and problems."""
        return self.query_one(Banner)

    @property
    def conversation(self) -> Conversation:
        """The turns."""
        return self.query_one(Conversation)

    @property
    def sources(self) -> SourcesPanel:
        """The selected turn's sources."""
        return self.query_one(SourcesPanel)

    @property
    def prompt(self) -> Prompt:
        """Where questions are written."""
        return cast("Prompt", self.query_one("#prompt"))

    async def mount_prompt(self) -> None:
        """Put the prompt in its place, with what was typed meanwhile."""
        from ragchat.tui.widgets.prompt import Prompt

        place, prompt = self.query_one(PromptPlace), Prompt()
        await self.mount(prompt, after=place)
        prompt.focus()
        prompt.put(self._typed_early)
        await place.remove()

    def on_key(self, event: Key) -> None:
        """What is typed goes to the prompt: also before it is there, and when a pane has no such key.

        The prompt lets no letter and no enter through to here. While it has the focus they are early ones,
        sent to the screen before that and read after it.
        """
        early = not self.query(PromptPlace) and self._is_writing
        if event.key == "enter" and early:
            event.stop()
            self.prompt.action_ask()
        elif event.character is None or not event.is_printable:
            return
        elif early:
            event.stop()
            self.prompt.insert(event.character, (0, len(self._typed_early)))
            self._typed_early += event.character
        elif self.query(PromptPlace):
            self._typed_early += event.character
        elif event.key not in self.active_bindings:
            event.stop()
            self.prompt.focus()
            self.prompt.insert(event.character)

    @property
    def session(self) -> Session | None:
        """The open folder's session."""
        return self.ragchat.session

    @property
    def evidence(self) -> Evidence | None:
        """The evidence that the keys act on: the selected turn's."""
        selected = self.conversation.selected
        return selected.evidence if selected is not None else None

    def offers(self, action: str) -> bool:
        """Whether a key of the footer has anything to act on now."""
        evidence = self.evidence
        if "open_source" in action:
            return evidence is not None and bool(evidence.sources)
        if action.endswith("inspect"):
            return evidence is not None and evidence.trace is not None
        if action == "copy_answer":
            return any(turn.copyable for turn in self.conversation.turns)
        if action == "show_failures":
            status = self.ragchat.feed.status if self.session is not None else None
            return status is not None and bool(status.failed)
        return True

    @property
    def escape_label(self) -> str:
        """What Esc does now, for the footer."""
        if self.session is not None and self.session.asking:
            return "Stop"
        if self._leaving:
            return "Quit: once more"
        return "Quit" if self._is_writing and not self.drawer_is_open else "Back"

    @property
    def _is_writing(self) -> bool:
        return self.focused is not None and self.focused.has_class("prompt")

    @property
    def drawer_is_open(self) -> bool:
        """Whether the sources lie below the conversation now."""
        return self.has_class("-narrow") and self.has_class("drawer-open")

    def show_folder(self) -> None:
        """Start afresh with the folder that the app has."""
        self.header.facts = HeaderFacts(self.ragchat.folder)
        self.conversation.say_empty(opening(self.ragchat.folder))

    def open_drawer(self) -> None:
        """Under 100 columns the sources appear by themselves after an answer that has some."""
        evidence = self.evidence
        self.set_class(evidence is not None and bool(evidence.sources), "drawer-open")

    async def on_told(self, message: Told) -> None:
        """News from a thread of the session; that of a folder left behind is dropped."""
        if message.session is self.session:
            await self.ragchat.feed.take(message)

    async def on_prompt_asked(self, message: Prompt.Asked) -> None:
        """A question was typed."""
        session = self.session
        if session is not None and session.opening and not self._held:
            self._held = message.question
        elif session is None or not session.is_open:
            self.prompt.give_back(message.question)
            self.notify("No folder is open yet: ctrl+o chooses one.", severity="warning")
        elif session.asking:
            self.prompt.give_back(message.question)
            self.notify("Still answering: esc stops it, then ask this.", severity="warning")
        else:
            self.prompt.add_to_history(message.question)
            await self.ask(message.question)

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

    async def ask(self, question: str, admit: frozenset[int] = frozenset()) -> None:
        """Begin a turn and let the session answer it."""
        assert self.session is not None
        turn = await self.conversation.begin_turn(question)
        self.ragchat.feed.begin(self.session.ask(question, admit), turn)
        self.refresh_bindings()

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
        self.action_open_source(message.number)

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
        self.ragchat.view_sources(evidence.sources, number - 1)

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

    async def action_admit(self) -> None:
        """Ask again, with the passage on offer let through by hand."""
        trace = self.evidence.trace if self.evidence is not None else None
        if trace is None or trace.literal is None or not trace.refused:
            self.notify("No passage is on offer here.", severity="warning")
        elif self.session is not None and not self.session.asking:
            await self.ask(trace.question, frozenset({trace.literal.candidate.chunk_id}))

    def action_toggle_sources(self) -> None:
        """Show or hide the sources."""
        if self.has_class("-narrow"):
            self.toggle_class("drawer-open")
        else:
            self.toggle_class("sources-hidden")

    def action_page_up(self) -> None:
        """Scroll the conversation while the prompt keeps the focus."""
        self.conversation.scroll_page_up(animate=False)

    def action_page_down(self) -> None:
        """Down again; at the bottom it follows the answer."""
        self.conversation.scroll_page_down(animate=False)

    def action_focus_prompt(self) -> None:
        """Back to writing."""
        self.prompt.focus()

    def action_leave(self) -> None:
        """Stop what runs; else leave the pane; else, when pressed twice, the app."""
        session = self.session
        if session is not None and session.asking:
            session.stop_answer()
        elif not self._is_writing:
            self.action_focus_prompt()
            self.remove_class("drawer-open")
        elif self.drawer_is_open:
            self.remove_class("drawer-open")
        elif self._leaving:
            self.app.exit(0)
        else:
            self._leaving = True
            self.refresh_bindings()
            self.set_timer(_ESC_AGAIN_SECONDS, self._stay)

    def _stay(self) -> None:
        self._leaving = False
        self.refresh_bindings()

    def _copy(self, turn: TurnView) -> None:
        self.ragchat.copy(turn.copyable, "the answer")
