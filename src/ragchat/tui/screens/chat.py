"""The main screen: conversation, sources, prompt. It shows what the session tells."""

from __future__ import annotations

from shutil import get_terminal_size
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container
from textual.events import Key

from ragchat.tui import keys
from ragchat.tui.empty import opening
from ragchat.tui.screens.turns import ActsOnTurns
from ragchat.tui.widgets.banner import Banner
from ragchat.tui.widgets.conversation import Conversation
from ragchat.tui.widgets.header import Header, HeaderFacts
from ragchat.tui.widgets.key_bar import KeyBar
from ragchat.tui.widgets.prompt_place import PromptPlace, prompt_titles
from ragchat.tui.widgets.sources import SourcesPanel

if TYPE_CHECKING:
    from ragchat.tui.messages import Told

_ESC_AGAIN_SECONDS = 2.0

_WIDTHS = [(0, "-narrow"), (100, "-wide")]
_HEIGHTS = [(0, "-short"), (20, "-tall")]


def _fitting(breakpoints: list[tuple[int, str]], size: int) -> str:
    return next(name for least, name in reversed(breakpoints) if size >= least)


class ChatScreen(ActsOnTurns):
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
        self._asked_early = ""

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

    async def mount_prompt(self) -> None:
        """Put the prompt in its place, with what was typed meanwhile."""
        from ragchat.tui.widgets.prompt import Prompt

        place, prompt = self.query_one(PromptPlace), Prompt()
        await self.mount(prompt, after=place)
        prompt.focus()
        prompt.put(self._asked_early)
        prompt.action_ask()
        prompt.put(self._typed_early)
        await place.remove()

    def on_key(self, event: Key) -> None:
        """What is typed goes to the prompt: also before it is there, and when a pane has no such key.

        The prompt lets no letter and no enter through to here. While it has the focus they are early ones,
        sent to the screen before that and read after it.
        """
        early = not self.query(PromptPlace) and self.is_writing
        if early and event.key in keys.keys_of("prompt.ask"):
            event.stop()
            self.prompt.action_ask()
            self._typed_early = ""
        elif self.query(PromptPlace) and event.key in keys.keys_of("prompt.ask") and not self._asked_early:
            self._asked_early, self._typed_early = self._typed_early, ""
        elif event.key == "backspace" and self.query(PromptPlace):
            self._typed_early = self._typed_early[:-1]
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
            self.write()
            self.prompt.insert(event.character)

    def offers(self, action: str) -> bool:
        """Whether a key of the footer has anything to act on now."""
        evidence = self.evidence
        if "open_source" in action:
            return evidence is not None and bool(evidence.sources)
        if action.endswith("inspect"):
            return evidence is not None and evidence.trace is not None
        if action.endswith(("copy_turn", "copy_code")):
            return self.can_copy(code=action.endswith("copy_code"))
        if action == "follow_up":
            return bool(self.conversation.turns)
        if action == "take_offer":
            return self.offer is not None
        if action == "copy_answer":
            return any(turn.copyable for turn in self.conversation.turns)
        if action == "show_index":
            status = self.ragchat.feed.status if self.session is not None else None
            return status is not None and bool(status.failed)
        return True

    @property
    def escape_label(self) -> str:
        """What Esc does now, for the footer."""
        if self.session is not None and self.session.questions.asking:
            return "Stop"
        if self._leaving:
            return "Quit: once more"
        return "Quit" if self.is_writing and not self.drawer_is_open else "Back"

    def name_keys(self) -> None:
        """Write anew which keys do what: they have been changed."""
        self.prompt.border_title, self.prompt.border_subtitle = prompt_titles()
        self.conversation.tell_more()

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

    def follow_up(self) -> None:
        """Ask what is written as a follow-up."""
        self.prompt.action_follow_up()

    def action_focus_prompt(self) -> None:
        """Back to writing."""
        self.write()

    def action_leave(self) -> None:
        """Stop what runs; else leave the pane; else, when pressed twice, the app."""
        session = self.session
        if session is not None and session.questions.asking:
            session.questions.stop()
        elif not self.is_writing:
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

    def action_interrupt(self) -> None:
        """Copy what is marked; else stop the answer at once."""
        marked = self.prompt.selected_text if self.is_writing else ""
        if marked := marked or self.get_selected_text() or "":
            self.ragchat.copy(marked, "what is marked")
        elif self.session is not None and self.session.questions.asking:
            self.session.questions.stop()
        else:
            self.notify(f"Nothing is marked and nothing runs: {keys.key_for('app.quit')} leaves.")

    def _stay(self) -> None:
        self._leaving = False
        self.refresh_bindings()
