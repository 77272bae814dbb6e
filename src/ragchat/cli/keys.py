"""`config keys`: every key of the screen, and how to change it."""

from __future__ import annotations

from ragchat.answering.escape import escape_line
from ragchat.cli.console import note, say, say_json, styled
from ragchat.errors import UsageError
from ragchat.settings_file import write_entry
from ragchat.settings_loader import config_file_path, load_settings, load_usable_settings
from ragchat.tui import keys
from ragchat.tui.keymap import key_rows, read_keymap, with_keys


def print_keys(*, as_json: bool) -> int:
    """The table as the settings file has it; what it says wrongly goes to stderr."""
    changed, problems = read_keymap(load_usable_settings()[0].keys)
    keys.use(changed)
    for problem in problems:
        note(escape_line(problem))
    if as_json:
        say_json([row._asdict() | {"changed": row.action in changed} for row in key_rows()])
        return 0
    place = ""
    for row in key_rows():
        if row.place != place:
            say(("\n" if place else "") + styled(row.place, "1"))
            place = row.place
        mark = "*" if row.action in changed else " "
        say(f"{mark} {' '.join(row.keys):14} {row.action:30} {row.description}")
    note(f'give one other keys under [keys] in {config_file_path()}, as in viewer.back = "q, escape"')
    note("what is written there replaces the keys of the action: name those that shall stay, too")
    return 0


def set_keys(action: str, given: str) -> int:
    """Write the keys of an action into the settings file. Raises UsageError where they cannot be taken."""
    try:
        with_keys(load_settings().keys, action, given)
    except ValueError as error:
        raise UsageError(str(error), hint="ragchat config keys") from error
    path = write_entry(f"keys.{action}", given)
    note(f'{action} = "{given}" in {path}')
    return 0
