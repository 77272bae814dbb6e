"""Changing a setting from the screen: what fixes it, what it costs, and writing it down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragchat.errors import UsageError
from ragchat.settings import Settings
from ragchat.settings_file import remove_entry, write_entry
from ragchat.settings_loader import config_file_path, read_setting
from ragchat.settings_schema import needs_new_vectors, setting_rows
from ragchat.tui.formatting import count
from ragchat.tui.recent import remembered_rate

if TYPE_CHECKING:
    from ragchat.answering.status import FolderStatus

_DEFAULTS = {row.name: row.default for row in setting_rows()}
_OF_THE_DEMO = ("notes", "chunking", "embedding", "retrieval", "index")
"""Sections that are the same in every demo."""


def value_of(settings: Settings, name: str) -> object:
    """The value in force."""
    section, _, key = name.partition(".")
    return getattr(getattr(settings, section), key)


def written(value: object) -> str:
    """A value as one types it."""
    if isinstance(value, tuple):
        return ":".join(str(each) for each in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def origin_of(settings: Settings, name: str, *, demo: bool) -> str:
    """Where a value comes from, in a word or two: default, file, flag, demo, or the variable."""
    if demo and name.partition(".")[0] in _OF_THE_DEMO:
        return "demo"
    origin = settings.origins.get(name, "default")
    return "file" if Path(origin) == config_file_path() else origin


def fixed_by(settings: Settings, name: str, *, demo: bool) -> str:
    """What holds a value whatever the file says, with what to do; "" when nothing does."""
    origin = origin_of(settings, name, demo=demo)
    if origin == "demo":
        return "the demo fixes it: open a folder of your own to change it"
    return (
        "" if origin in ("default", "file") else f"{origin} fixes it: what the file says counts without that"
    )


def fitting(name: str, text: str, themes: Sequence[str]) -> object:
    """The value that was typed. Raises UsageError with one line."""
    if name == "screen.theme" and text not in themes:
        raise UsageError(f"there is no theme {text[:40]!r}")
    try:
        return read_setting(name, text, "")
    except UsageError as error:
        raise UsageError(error.message.removeprefix(": ")) from error


def changed(settings: Settings, name: str, value: object) -> Settings:
    """Write the value into the file, and return the settings with it. Raises StorageFailed, UsageError."""
    write_entry(name, value)
    return _with(settings, name, value, {**settings.origins, name: str(config_file_path())})


def put_back(settings: Settings, name: str) -> Settings:
    """Take the entry out of the file, and return the settings with the default."""
    remove_entry(name)
    origins = {other: origin for other, origin in settings.origins.items() if other != name}
    return _with(settings, name, _DEFAULTS[name], origins)


def cost(name: str, status: FolderStatus | None) -> str:
    """What a change costs before the folder is as it was, in a sentence; "" when it costs nothing."""
    if not needs_new_vectors(name) or status is None or not status.chunks:
        return ""
    passages, rate = status.chunks, remembered_rate()
    anew = f"{count(passages, 'passage')} of {count(status.indexed, 'document')} must be embedded anew"
    if not rate:
        return f"{anew}. How long that takes was not measured here yet."
    time = _duration(passages / rate)
    return f"{anew}: about {time}, at the {rate:,.0f} passages a second last measured here."


def takes_hold_on_opening(before: Settings, after: Settings) -> bool:
    """Whether anything but the look of the screen differs."""
    names = [field.name for field in fields(Settings) if field.name not in ("screen", "origins", "keys")]
    return any(getattr(before, name) != getattr(after, name) for name in names)


def shown_value(value: object) -> str:
    """A value in a column."""
    return written(value) or "(empty)"


def _with(settings: Settings, name: str, value: object, origins: dict[str, str]) -> Settings:
    section, _, key = name.partition(".")
    part = replace(cast("Any", getattr(settings, section)), **{key: value})
    return replace(settings, **{section: part, "origins": origins})


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
