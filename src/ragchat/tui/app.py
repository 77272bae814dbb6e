"""The application: which folder is open, which theme is on, which screen comes next."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.await_complete import AwaitComplete
from textual.events import Event, Key, Resize
from textual.screen import Screen

from ragchat.tui import keys
from ragchat.tui.default_theme import SIXTEEN, has_sixteen_colors
from ragchat.tui.garbage import EVERY_SECONDS, Housekeeping
from ragchat.tui.recent import is_first_start, remember_folder
from ragchat.tui.screens.chat import ChatScreen
from ragchat.tui.terminal_keys import read_alt_as_keys, read_alt_enter_as_new_line
from ragchat.tui.themed_app import ThemedApp

if TYPE_CHECKING:
    from ragchat.answering.server import ServerHealth
    from ragchat.answering.turn import TurnSource
    from ragchat.index.progress import Survey
    from ragchat.settings import Settings
    from ragchat.tui.feed import Feed
    from ragchat.tui.session import Session, WorkspaceFactory
    from ragchat.tui.widgets.find_line import FindLine

read_alt_as_keys()
read_alt_enter_as_new_line()


_LEAST = (40, 10)
"""Columns and rows."""


class RagchatApp(ThemedApp):
    """One chat screen over one session; other screens are pushed on top and go away again."""

    TITLE = "ragchat"
    CSS_PATH = ["styles/app.tcss", "styles/chat.tcss"]  # noqa: RUF012 -- Textual declares it
    ENABLE_COMMAND_PALETTE = False  # ours is another
    BINDINGS = keys.APP_KEYS
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 -- Textual declares it
    TOOLTIP_DELAY = 1.0

    def __init__(
        self,
        folder: Path | None,
        settings: Settings,
        *,
        demo: bool = False,
        open_workspace: WorkspaceFactory | None = None,
    ) -> None:
        super().__init__()
        self.folder = folder
        self.settings = settings
        self.demo = demo
        self.rebuild_agreed = False
        self.welcomes = False
        self._is_small = False
        self.session: Session | None = None
        self._open_workspace = open_workspace
        self.chat = ChatScreen()
        self.feed: Feed
        self._housekeeping = Housekeeping()
        self._wanted_theme = settings.screen.theme
        if not self.theme_is_set and has_sixteen_colors(os.environ):
            self._wanted_theme = SIXTEEN
        self.load_first_theme()
        keys.use({})
        self._key_problems: tuple[str, ...] = ()
        if settings.keys:
            self._load_keymap()

    def get_default_screen(self) -> Screen[object]:
        """The chat screen is the bottom of the stack."""
        return self.chat

    def _load_keymap(self) -> None:
        """The user's own keys; one line for each that cannot be taken."""
        from ragchat.tui.keymap import read_keymap

        changed, self._key_problems = read_keymap(self.settings.keys)
        keys.use(changed)
        self.set_keymap(changed)

    def action_help(self) -> None:
        """The keys that work here, then all others."""
        from ragchat.tui.screens.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen.active_bindings.values()))

    def action_move(self, to: str) -> None:
        """A letter stands for a key of the focused list or text."""
        table = {"home": "action_scroll_top", "end": "action_scroll_bottom"}.get(to, "")
        act = getattr(self.focused, table, None)  # of a table, whose home is the line's
        if act is not None:
            act()
        else:
            self.simulate_key(to)

    async def begin(self) -> None:
        """What the first frame did not wait for."""
        from ragchat.tui.line_breaks import break_between_wide_characters

        break_between_wide_characters()
        self.stylesheet.read(Path(__file__).parent / "styles" / "later.tcss")
        self.refresh_css(animate=False)
        await self.chat.mount_prompt()
        self.load_themes()
        self._tell(self._key_problems, "Keys")
        self._housekeeping.begin()
        self.set_interval(EVERY_SECONDS, self._housekeeping.tend)
        if self.welcomes and is_first_start():
            from ragchat.tui.welcoming import welcome

            welcome(self)
        else:
            self.open_session()

    def look_for_server(self) -> ServerHealth:
        """Whether a model server answers; takes a moment."""
        from ragchat.tui.session import real_workspace

        factory = self._open_workspace or real_workspace
        return factory(self.folder or Path.cwd(), self.settings).server_health()

    def take_settings(self, settings: Settings, *, rebuild: bool) -> None:
        """Go on with changed settings; the folder is opened anew where they concern it.

        rebuild: the user agreed that the notes are embedded anew.
        """
        from ragchat.tui.changing import takes_hold_on_opening

        anew = takes_hold_on_opening(self.settings, settings)
        self.settings, self.rebuild_agreed = settings, rebuild
        if anew and self.session is not None:
            self.notify("The folder is opened anew with the changed settings.")
            self.run_worker(self._open_anew())

    async def _open_anew(self) -> None:
        self._close_session()
        self.chat.give_back_held()
        await self.chat.conversation.clear()
        await self.chat.sources.show(None)
        self.chat.banner.clear()
        self.chat.show_folder()
        self._housekeeping.look_again()
        self.open_session()

    def on_resize(self, event: Resize) -> None:
        """Under the least size one line is all that is shown, and goes away again."""
        small = event.size.width < _LEAST[0] or event.size.height < _LEAST[1]
        if small != self._is_small:
            from ragchat.tui.screens.too_small import TooSmallScreen

            self._is_small = small
            if small:
                self.push_screen(TooSmallScreen(*_LEAST))
            elif isinstance(self.screen, TooSmallScreen):
                self.pop_screen()

    def pop_screen(self) -> AwaitComplete:
        """Back to the screen below; the main one stays, however often and fast that is pressed."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:  # noqa: ARG002 -- Textual calls it
        """Where the terminal is too small for anything else, one can still leave; a key that is asked for
        means nothing yet."""
        if getattr(self.screen, "TAKES_ANY_KEY", False):
            return False
        return action == "quit" or not self._is_small

    async def on_event(self, event: Event) -> None:
        """Every key passes here first, whoever takes it."""
        self._housekeeping.note(event)
        await super().on_event(event)
        if isinstance(event, Key) and (act := self._housekeeping.behind_key()) is not None:
            (self.focused or self.screen).call_after_refresh(act)

    def on_key(self, event: Key) -> None:
        """Letters behind the key that opens a line to find words, sent to the page before the line was there.

        The line lets no letter of its own through to here; a page would take them for its keys.
        """
        line = self.focused
        if event.is_printable and event.character and line is not None and line.has_class("find-line"):
            event.prevent_default()
            cast("FindLine", line).insert_text_at_cursor(event.character)

    @property
    def is_typing(self) -> bool:
        """Whether somebody types now: what can wait for a moment does."""
        return self._housekeeping.is_typing

    def do_behind_key(self, act: Callable[[], Awaitable[None]]) -> None:
        """Have this done as soon as the next key is painted."""
        self._housekeeping.do_behind_key(act)

    def open_session(self) -> None:
        """Open the folder behind the screen."""
        from ragchat.tui.feed import Feed
        from ragchat.tui.session import Session, real_workspace

        self.feed = Feed(self.chat, demo=self.demo)
        if self.folder is not None:
            if not self.demo:
                remember_folder(self.folder)
            factory = self._open_workspace or real_workspace
            self.session = Session(self.folder, self.settings, factory, self.chat.post_message)
            self.session.open()

    async def open_folder(self, folder: Path, *, demo: bool = False) -> None:
        """Leave the folder and open another."""
        self.folder, self.demo = folder, demo
        await self._open_anew()

    def exit(self, *arguments: Any, **options: Any) -> None:
        """Leave. An answer is stopped at once: it is kept while the screen is still taken apart."""
        if self.session is not None:
            self.session.stop()
        super().exit(*arguments, **options)

    def on_unmount(self) -> None:
        """Stop every thread; none is waited for."""
        self._close_session()
        self._housekeeping.end()

    def _close_session(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None

    def copy(self, text: str, what: str) -> None:
        """Copy and say how."""
        from ragchat.tui.clipboard import copy

        copy(self, text, what)

    def view_sources(self, sources: Sequence[TurnSource], position: int, question: str = "") -> None:
        """Open the viewer at one of the sources. question: what they are sources for."""
        from ragchat.tui.screens.viewer import ViewerScreen

        if self.session is not None:
            self.push_screen(ViewerScreen(self.session, sources, position, question))

    def confirm_indexing(self, session: Session, survey: Survey) -> None:
        """Ask before a huge or unusual folder is read; re-indexing asks again until the answer is yes."""
        from ragchat.tui.screens.confirm import ask_about_folder

        def answered(yes: bool | None) -> None:
            if yes:
                self.feed.unconfirmed = None
                session.index()

        self.feed.unconfirmed = survey
        self.push_screen(ask_about_folder(session.folder, survey), answered)

    def say_no_folder(self) -> None:
        """What was asked for needs a folder."""
        words = f"No folder is open yet: {keys.key_for('chat.switch_folder')} chooses one."
        self.notify(words, severity="warning")

    def reindex(self) -> None:
        """Read what changed; from scratch when the index is stale."""
        if self.session is None:
            self.say_no_folder()
        elif self.session.indexing:
            self.notify("Already indexing.", severity="warning")
        elif self.feed.unconfirmed is not None:
            self.confirm_indexing(self.session, self.feed.unconfirmed)
        else:
            self.session.index(rebuild=self.feed.stale)

    def action_jump(self) -> None:
        """A letter on each place; typing it goes there."""
        from ragchat.tui.commands import jump

        self.clear_notifications()  # they would lie over the letters
        jump(self)

    def action_command_palette(self) -> None:
        """Find anything by its name."""
        from ragchat.tui.commands import show_palette

        show_palette(self)
