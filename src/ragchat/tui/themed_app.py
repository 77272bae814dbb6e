"""The part of the application that wears a theme: the one that is on at once, all others behind it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragchat import paths
from ragchat.tui.default_theme import DEFAULT, SIXTEEN, VARIABLES
from ragchat.tui.formatting import shown
from ragchat.tui.toasts import TellingApp

if TYPE_CHECKING:
    from pathlib import Path

    from textual.theme import Theme

    from ragchat.settings import Settings

_TOLD = 4
"""Problems in one toast."""


class ThemedApp(TellingApp):
    """theme_names: those that can be chosen, known once `load_themes` was called."""

    settings: Settings
    theme_names: tuple[str, ...] = ()
    _wanted_theme: str
    _has_theme = False

    @property
    def theme_is_set(self) -> bool:
        """Whether the settings name a theme, which then comes before what suits the terminal."""
        return "screen.theme" in self.settings.origins

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our own variables, for themes that are not ours."""
        return dict(VARIABLES)

    def get_css_variables(self) -> dict[str, str]:
        """Made once: Textual asks already while the app is made, when the theme is not known."""
        return super().get_css_variables() if self._has_theme else {}

    def _validate_theme(self, theme_name: str) -> str:
        """Without colours only the theme that needs none: in others a cursor is nothing but a colour."""
        colourless = self.no_color and SIXTEEN in self.available_themes
        return super()._validate_theme(SIXTEEN if colourless else theme_name)

    def load_first_theme(self) -> None:
        """Only the theme that is on: the first frame does not wait for the others."""
        if self.no_color:
            from ragchat.tui.colourless import Colourless

            self._wanted_theme = SIXTEEN
            self._filters.append(Colourless())
        theme = self._first_theme()
        self._has_theme = True
        self.register_theme(theme)
        if theme.ansi:
            self.theme = theme.name
        else:  # without the watcher, which would parse every style once more
            self.set_reactive(ThemedApp.theme, theme.name)
            self.stylesheet.set_variables(self.get_css_variables())

    def _first_theme(self) -> Theme:
        wanted = self._wanted_theme
        _, own = folders = self._theme_folders()
        if wanted == DEFAULT.name and not (own / f"{wanted}.toml").is_file():
            return DEFAULT
        from ragchat.tui.themes import ThemeError, read_theme

        for folder in reversed(folders):
            path = folder / f"{wanted}.toml"
            try:
                theme = read_theme(path) if path.is_file() else None
            except ThemeError:
                continue  # told by `load_themes`
            if theme is not None and theme.name == wanted:
                return theme
        return DEFAULT

    def load_themes(self) -> None:
        """All themes, and one line for each that is bad."""
        from ragchat.tui.themes import load_shelf

        shelf = load_shelf(self._theme_folders())
        for theme in shelf.themes.values():
            self.register_theme(theme)
        self.theme_names = tuple(shelf.themes)
        problems = list(shelf.problems)
        wanted = self._wanted_theme
        if self.theme != wanted:
            if wanted in self.theme_names:
                self.theme = wanted
            else:
                problems.append(f"there is no theme {wanted!r}: {self.theme} is on instead")
        self._tell(problems, "Theme")

    @staticmethod
    def _theme_folders() -> tuple[Path, Path]:
        """The bundled themes, overlaid by the user's own."""
        return paths.bundled_themes_dir(), paths.config_dir() / "themes"

    def _tell(self, problems: Iterable[str], title: str) -> None:
        """One line each, the first few in full."""
        lines = [shown(problem) for problem in problems]
        if more := len(lines) - _TOLD:
            lines[_TOLD:] = [f"… and {more:,} more"] if more > 0 else []
        if lines:
            self.notify("\n".join(lines), title=title, severity="warning", markup=False, timeout=12)
