"""Every setting with its value and where it comes from; changed in place, and written into the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ragchat.errors import RagchatError
from ragchat.settings_loader import config_file_path
from ragchat.settings_schema import SettingRow, setting_rows
from ragchat.tui import changing, page_keys
from ragchat.tui.formatting import folder_name, one_line
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.settings import Settings
    from ragchat.tui.app import RagchatApp

_VALUE_CELLS = 30
_BESIDE = 28
"""Characters that fit beside a label."""


class SettingList(OptionList):
    """Keeps the chosen one inside also when the words below it take more lines."""

    def on_resize(self) -> None:
        """As far as it takes."""
        self.scroll_to_highlight()


class SettingsScreen(Screen[None]):
    """A list by sections, what the chosen one means beside or below it, and a line to type its value into."""

    BINDINGS = page_keys.SETTINGS
    CSS_PATH = "../styles/settings.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- Textual declares it

    def __init__(self, settings: Settings, begin_at: str = "") -> None:
        super().__init__()
        self._begin_at = begin_at
        self._settings = settings
        self._rows = {row.name: row for row in setting_rows()}
        self._agreed = ""
        self.editing = ""

    @property
    def _ragchat(self) -> RagchatApp:
        return cast("RagchatApp", self.app)

    def compose(self) -> ComposeResult:
        """The list, the meaning below it or, where there is room, beside it."""
        options = SettingList(*self._options())
        options.border_title = "Settings"
        options.border_subtitle = Content(folder_name(config_file_path()))
        yield options
        with Vertical(id="meaning") as meaning:
            meaning.border_title = "What it does"
            yield Static(id="about")
            yield Input(select_on_focus=False)
            yield Static(id="trouble")
        yield KeyBar()

    def on_mount(self) -> None:
        """The line to type in comes when it is asked for."""
        self.query_one(Input).display = False
        options = self.query_one(OptionList)
        options.highlighted = options.get_option_index(self._begin_at) if self._begin_at else 1

    @property
    def escape_label(self) -> str:
        """What Esc does now."""
        return "Leave it" if self.editing else "Back"

    def offers(self, action: str) -> bool:
        """While a value is typed, only what concerns it; nothing where it is fixed."""
        if self.editing:
            return action in ("back", "edit")
        row = self._row()
        return action not in ("edit", "default") or row is None or not self._fixed_by(row)

    @on(OptionList.OptionHighlighted)
    def _highlighted(self) -> None:
        self._explain()

    async def action_edit(self) -> None:
        """Begin to change the value; while it is typed: take it."""
        if self.editing:
            await self.query_one(Input).action_submit()
        else:
            self._selected()

    @on(OptionList.OptionSelected)
    def _selected(self) -> None:
        """Type a value; one of a few is chosen by going round."""
        row = self._row()
        if row is None or self._is_fixed(row):
            return
        if row.choices:
            self.action_next()
        else:
            self.editing = row.name
            line = self.query_one(Input)
            line.display = True
            line.value = changing.written(changing.value_of(self._settings, row.name))
            line.focus()
            self._explain()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        """What is wrong with it, while one types."""
        if self.editing:
            self._complain("")
            try:
                changing.fitting(self.editing, event.value.strip(), self._ragchat.theme_names)
            except RagchatError as error:
                self._complain(error.message)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        try:
            value = changing.fitting(self.editing, event.value.strip(), self._ragchat.theme_names)
        except RagchatError as error:
            self._complain(error.message)
        else:
            self._change(self.editing, value)

    def action_next(self) -> None:
        """The next of the values that a setting can have."""
        row = self._row()
        if row is None or not row.choices or self._is_fixed(row):
            return
        now = changing.written(changing.value_of(self._settings, row.name))
        at = row.choices.index(now) if now in row.choices else -1
        text = row.choices[(at + 1) % len(row.choices)]
        self._change(row.name, changing.fitting(row.name, text, self._ragchat.theme_names))

    def action_default(self) -> None:
        """Take the entry out of the file."""
        row = self._row()
        if row is None or self._is_fixed(row):
            return
        if self._origin_of(row) == "default":
            self._complain("it is the default already")
        else:
            self._change(row.name, None)

    def action_back(self) -> None:
        """Leave the value as it is; else leave, and let what changed take hold."""
        if self.editing:
            self._stop_editing()
            return
        self.app.pop_screen()
        self._ragchat.take_settings(self._settings, rebuild=bool(self._agreed))

    def _change(self, name: str, value: object | None) -> None:
        """Change it (None: back to the default), after asking where that costs something."""
        from ragchat.tui.screens.confirm import ConfirmScreen

        self._stop_editing()
        after = self._rows[name].default if value is None else value
        if after == changing.value_of(self._settings, name) and value is not None:
            return
        feed = self._ragchat.feed if self._ragchat.session is not None else None
        price = changing.cost(name, feed.status if feed is not None else None)
        if not price or self._agreed:
            self._write(name, value)
            return

        def answered(yes: bool | None) -> None:
            if yes:
                self._agreed = name
                self._write(name, value)

        body = Content.assemble(
            (f"{name} = {one_line(changing.shown_value(after), 60)}", "bold"),
            f"\n\n{price}\n\n",
            ("The index in use answers until the new one is whole.", "$quiet"),
        )
        self.app.push_screen(ConfirmScreen("Embed the notes anew?", body), answered)

    def _write(self, name: str, value: object | None) -> None:
        try:
            if value is None:
                self._settings = changing.put_back(self._settings, name)
            else:
                self._settings = changing.changed(self._settings, name, value)
        except RagchatError as error:
            self._complain(error.message)
            return
        if name == "screen.theme" and self._settings.screen.theme in self._ragchat.theme_names:
            self.app.theme = self._settings.screen.theme
        options = self.query_one(OptionList)
        options.replace_option_prompt(name, self._line(self._rows[name]))
        self._explain()
        self._complain(f"✓ {'taken out of' if value is None else 'written into'} the file", "$success")

    def _stop_editing(self) -> None:
        if self.editing:
            self.editing = ""
            self.query_one(Input).display = False
            self.query_one(OptionList).focus()
            self._explain()

    def _row(self) -> SettingRow | None:
        options = self.query_one(OptionList)
        at = options.highlighted
        return self._rows.get(options.get_option_at_index(at).id or "") if at is not None else None

    def _is_fixed(self, row: SettingRow) -> bool:
        if why := self._fixed_by(row):
            self._complain(why)
        return bool(why)

    def _options(self) -> list[Option]:
        options: list[Option] = []
        section = ""
        for row in self._rows.values():
            if (now := row.name.partition(".")[0]) != section:
                section = now
                options.append(Option(Content.styled(section.capitalize(), "bold $primary"), disabled=True))
            options.append(Option(self._line(row), id=row.name))
        return options

    def _line(self, row: SettingRow) -> Content:
        value = one_line(changing.shown_value(changing.value_of(self._settings, row.name)), 200)
        origin = self._origin_of(row)
        is_default = origin in ("default", "demo")
        shown = Content(value).truncate(_VALUE_CELLS, ellipsis=True, pad=True)
        return Content.assemble(
            f"  {row.name.partition('.')[2]:<17} ",
            shown.stylize("$quiet" if is_default else "bold"),
            (f" {one_line(origin, 40)}", "$quiet" if is_default else "$accent"),
        )

    def on_resize(self) -> None:
        """Beside the list there is room for more words than below it."""
        self._explain()

    def _explain(self) -> None:
        row = self._row()
        if row is not None:
            words = self._at_length(row) if self.has_class("-wide") else self._briefly(row)
            self.query_one("#about", Static).update(words)
            self._complain("")
            self.refresh_bindings()

    def _briefly(self, row: SettingRow) -> Content:
        why = self._fixed_by(row)
        default = one_line(changing.shown_value(row.default), 60)
        return Content.assemble(
            (row.name, "bold $primary"),
            f"  {row.meaning}\n",
            (f"{row.kind} · default {default} · {row.effect}", "$quiet"),
            (f"\n▲ {why}", "$warning") if why else "",
        )

    def _at_length(self, row: SettingRow) -> Content:
        feed = self._ragchat.feed if self._ragchat.session is not None else None
        origin = self._origin_of(row)
        facts = {
            "value": changing.shown_value(changing.value_of(self._settings, row.name)),
            "from": folder_name(config_file_path()) if origin == "file" else origin,
            "default": changing.shown_value(row.default),
            "allowed": row.kind,
            "takes hold": row.effect,
            "costs": changing.cost(row.name, feed.status if feed is not None else None) or "nothing",
        }
        lines = [Content.styled(row.name, "bold $primary"), Content(f"{row.meaning}\n")]
        for what, said in facts.items():
            shown = one_line(said, 300)
            fits = len(shown) <= _BESIDE
            lines.append(Content.assemble((f"{what:<11}", "$quiet"), "" if fits else "\n  ", shown))
        if why := self._fixed_by(row):
            lines.append(Content.styled(f"\n▲ {why}", "$warning"))
        return Content("\n").join(lines)

    def _origin_of(self, row: SettingRow) -> str:
        return changing.origin_of(self._settings, row.name, demo=self._ragchat.demo)

    def _fixed_by(self, row: SettingRow) -> str:
        return changing.fixed_by(self._settings, row.name, demo=self._ragchat.demo)

    def _complain(self, words: str, tone: str = "$error") -> None:
        line = Content("")
        if words:
            line = Content.styled(one_line(words if tone != "$error" else f"✗ {words}", 300), tone)
        self.query_one("#trouble", Static).update(line)
