"""Give an action other keys: find it, press enter, then the key; written where `config keys` reads it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ragchat.errors import RagchatError
from ragchat.settings_file import remove_entry, write_entry
from ragchat.settings_loader import config_file_path, load_usable_settings
from ragchat.tui import keys, page_keys
from ragchat.tui.formatting import count, folder_name, one_line
from ragchat.tui.keymap import Keymap, KeyRow, key_rows, read_key, with_keys
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.tui.app import RagchatApp

_KEY_CELLS, _DOES_CELLS = 12, 46


class PressScreen(Dialog[str | None]):
    """Takes the next key, whatever it is; None after escape. No other key means anything here."""

    CSS_PATH = "../styles/dialog.tcss"
    TAKES_ANY_KEY = True

    def __init__(self, does: str) -> None:
        super().__init__()
        self._does = does

    def compose(self) -> ComposeResult:
        """What the key will be for."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Press the key"
            yield Static(Content.assemble("for: ", (self._does, "bold")), classes="body")
            yield Static(Content.assemble(("esc", "bold $accent"), " leaves it as it is"), classes="body")

    def on_key(self, event: Key) -> None:
        """This one."""
        event.stop()
        character = event.character or ""
        typed = character if event.is_printable and not character.isspace() else event.key
        self.dismiss(None if event.key == "escape" else typed)


class RemapScreen(Screen[None]):
    """Every action with its keys; what is typed finds one by its words, its keys or its place."""

    BINDINGS = page_keys.REMAP
    CSS_PATH = "../styles/pages.tcss"

    def __init__(self, sought: str = "") -> None:
        super().__init__()
        self._sought = sought
        self._rows: list[KeyRow] = []
        self._table = load_usable_settings()[0].keys

    def compose(self) -> ComposeResult:
        """A line to type in, the actions, what became of a key."""
        yield Input(
            self._sought,
            placeholder="type to find an action or a key",
            compact=True,
            id="sought",
            select_on_focus=False,
        )
        options = OptionList()
        options.border_title = "Keys"
        options.can_focus = False
        yield options
        yield Static(id="told")
        yield KeyBar()

    def on_mount(self) -> None:
        """All of them."""
        self._list()
        self._say(Content.styled("* has keys of your own", "$quiet"))

    def on_key(self, event: Key) -> None:
        """Up and down move in the list while one types."""
        options = self.query_one(OptionList)
        moves: dict[str, Callable[[], None]] = {
            "up": options.action_cursor_up,
            "down": options.action_cursor_down,
            "pageup": options.action_page_up,
            "pagedown": options.action_page_down,
        }
        if event.key in moves:
            event.stop()
            moves[event.key]()

    @on(Input.Changed)
    def _typed(self) -> None:
        self._list()

    @on(OptionList.OptionSelected)
    def action_replace(self) -> None:
        """The next key is the action's only one."""
        self._ask(())

    def action_add(self) -> None:
        """The next key is one more of the action's."""
        if (row := self._row) is not None:
            self._ask(keys.keys_of(row.action))

    def action_default(self) -> None:
        """The keys it came with."""
        row = self._row
        if row is None:
            return
        if row.action not in self._table:
            self._say(Content("It has its default keys."))
            return
        self._take(row, None)

    @property
    def _row(self) -> KeyRow | None:
        at = self.query_one(OptionList).highlighted
        return self._rows[at] if at is not None and at < len(self._rows) else None

    def _ask(self, kept: tuple[str, ...]) -> None:
        row = self._row
        if row is None:
            return

        def pressed(typed: str | None) -> None:
            if typed is None:
                return
            try:
                key = read_key(typed)
            except ValueError as error:
                self._complain(str(error))
            else:
                self._take(row, ",".join(dict.fromkeys((*kept, key))))

        self.app.push_screen(PressScreen(row.description), pressed)

    def _take(self, row: KeyRow, given: str | None) -> None:
        """Have it so from now on, and written down; or say in one line why not."""
        try:
            keymap = with_keys(self._table, row.action, given)
            if given is None:
                remove_entry(f"keys.{row.action}")
            else:
                write_entry(f"keys.{row.action}", given)
        except (ValueError, RagchatError) as error:
            self._complain(str(error))
            return
        self._use(keymap)
        self._list(row.action)
        now = " ".join(map(keys.sign, keys.keys_of(row.action)))
        words = f"{now}: {row.description} · written into {folder_name(config_file_path())}"
        self._say(Content.styled(f"✓ {one_line(words, 300)}", "$success"))

    def _use(self, keymap: Keymap) -> None:
        self._table = load_usable_settings()[0].keys
        keys.use(keymap.changed)
        self.app.set_keymap(dict(keymap.changed))
        cast("RagchatApp", self.app).chat.name_keys()

    def _list(self, action: str = "") -> None:
        """The actions that hold all words, the cursor on the named one."""
        words = self.query_one(Input).value.casefold().split()
        self._rows = [row for row in key_rows() if row.action and all(word in _text(row) for word in words)]
        options = self.query_one(OptionList)
        options.set_options([Option(self._line(row)) for row in self._rows])
        at = next((n for n, row in enumerate(self._rows) if row.action == action), 0)
        options.highlighted = at if self._rows else None
        options.border_subtitle = count(len(self._rows), "action") if self._rows else "none found"

    def _line(self, row: KeyRow) -> Content:
        changed = row.action in self._table
        shown = Content(" ".join(row.keys)).truncate(_KEY_CELLS, ellipsis=True, pad=True)
        return Content.assemble(
            ("* " if changed else "  ", "$accent"),
            shown.stylize("bold $accent"),
            " ",
            Content(row.description).truncate(_DOES_CELLS, ellipsis=True, pad=True),
            (f"  {row.place}", "$quiet"),
        )

    def _complain(self, words: str) -> None:
        self._say(Content.styled(f"✗ {one_line(words, 300)}", "$error"))

    def _say(self, words: Content) -> None:
        self.query_one("#told", Static).update(words)


def _text(row: KeyRow) -> str:
    return f"{row.description} {' '.join(row.keys)} {row.place} {row.action}".casefold()
