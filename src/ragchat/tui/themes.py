"""Themes are TOML files: the bundled ones, overlaid by the user's own folder.

A file is other people's text: every colour is checked before Textual sees it, and a bad file costs one line
(what, where) and nothing else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from textual.color import Color, ColorParseError
from textual.theme import Theme

from ragchat.toml_file import read_toml
from ragchat.tui.default_theme import DEFAULT

_COLORS = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)
_FLAGS = ("dark", "ansi")
_VARIABLE = re.compile(r"[a-z][a-z0-9-]*")
_TEXT_STYLE = re.compile(r"(?:(?:not )?(?:bold|italic|underline|reverse|dim|none) ?)+")
_NAME = re.compile(r"[\w -]{1,40}")
_LARGEST = 64 * 1024


class ThemeError(ValueError):
    """One line: what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """The themes that could be read, and one line for each that could not."""

    themes: Mapping[str, Theme]
    problems: tuple[str, ...]


def load_shelf(folders: Iterable[Path]) -> Shelf:
    """Read every *.toml of the folders; a later folder's theme replaces one of the same name."""
    themes: dict[str, Theme] = {}
    problems: list[str] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                theme = read_theme(path)
            except ThemeError as error:
                problems.append(f"theme {path.name}: {error}")
            else:
                themes[theme.name] = theme
    if not themes:
        themes[DEFAULT.name] = DEFAULT
    return Shelf(themes, tuple(problems))


def read_theme(path: Path) -> Theme:
    """One file as a theme. Raises ThemeError with one line."""
    try:
        _, table = read_toml(path, _LARGEST)
    except OSError as error:
        raise ThemeError(f"cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise ThemeError("cannot be read (it is not UTF-8)") from error
    except tomllib.TOMLDecodeError as error:
        raise ThemeError(f"is no TOML: {error}") from error
    except ValueError as error:
        raise ThemeError(f"cannot be read ({error})") from error
    return theme_of(table, default_name=path.stem)


def theme_of(table: Mapping[str, object], *, default_name: str) -> Theme:
    """A checked theme. Raises ThemeError that names the key."""
    unknown = [key for key in table if key not in (*_COLORS, *_FLAGS, "name", "variables")]
    if unknown:
        raise ThemeError(f"unknown key {unknown[0][:40]!r}")
    if "primary" not in table:
        raise ThemeError("needs a colour named 'primary'")
    name = table.get("name", default_name)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ThemeError("'name' must be up to 40 letters, digits, blanks, - or _")
    flags = {key: _flag(key, table[key]) for key in _FLAGS if key in table}
    colors = {key: _color(key, table[key]) for key in _COLORS if key in table}
    return Theme(
        name=name,
        primary=colors["primary"],
        dark=flags.get("dark", True),
        ansi=flags.get("ansi", False),
        variables={**_derived(colors, flags), **_variables(table.get("variables", {}))},
        secondary=colors.get("secondary"),
        accent=colors.get("accent"),
        foreground=colors.get("foreground"),
        background=colors.get("background"),
        surface=colors.get("surface"),
        panel=colors.get("panel"),
        success=colors.get("success"),
        warning=colors.get("warning"),
        error=colors.get("error"),
    )


def _derived(colors: Mapping[str, str], flags: Mapping[str, bool]) -> dict[str, str]:
    """Our own variables, made from the colours that the theme does have."""
    cite = colors.get("accent", colors["primary"])
    if flags.get("ansi", False):
        return {
            "pane-border": "ansi_bright_black",
            "pane-border-focus": colors["primary"],
            "cite": cite,
            "ansi-background": "ansi_black",
            "ansi-foreground": "ansi_white",
            "quote-background": "ansi_default",
            "quote-style": "reverse",
            "quiet": "ansi_default",
            "block-cursor-background": "ansi_blue",
            "block-cursor-foreground": "ansi_bright_white",
        }
    dark = flags.get("dark", True)
    background = Color.parse(colors.get("background", "#121212" if dark else "#efefef"))
    foreground = Color.parse(colors.get("foreground", "#e0e0e0" if dark else "#1f1f1f"))
    return {
        "pane-border": background.blend(foreground, 0.25).hex,
        "pane-border-focus": colors["primary"],
        "cite": cite,
        "quote-background": background.blend(Color.parse(cite), 0.2).hex,
        "quote-style": "none",
        "quiet": background.blend(foreground, 0.65).hex,
        "block-cursor-background": background.blend(Color.parse(colors["primary"]), 0.3).hex,
        "block-cursor-foreground": foreground.hex,
        "block-cursor-text-style": "none",
    }


def _flag(key: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ThemeError(f"'{key}' must be true or false")
    return value


def _color(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise ThemeError(f"'{key}' must be a colour in quotes")
    try:
        Color.parse(value)
    except ColorParseError:
        raise ThemeError(f"'{key}' is no colour: {value[:40]!r}") from None
    return value


def _variables(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise ThemeError("'variables' must be a table")
    variables: dict[str, str] = {}
    for key, text in value.items():
        if not _VARIABLE.fullmatch(key):
            raise ThemeError(f"'variables.{key[:40]}' is no variable")
        styled = key.endswith(("-text-style", "-style", "-style-hover"))
        if styled and isinstance(text, str) and _TEXT_STYLE.fullmatch(text):
            variables[key] = text
        else:
            variables[key] = _color(f"variables.{key}", text)
    return variables
