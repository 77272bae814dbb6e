"""`config` and `paths`: the settings in force, where each comes from, and where everything lies."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ragchat import paths as places
from ragchat.answering.escape import escape_line
from ragchat.cli.console import complain, note, say, say_json, styled
from ragchat.cli.options import (
    chosen_folder,
    folder_option,
    json_option,
    settings_of,
    settings_option,
    usable_settings_of,
)
from ragchat.errors import UsageError
from ragchat.settings import Settings
from ragchat.settings_file import write_entry
from ragchat.settings_loader import config_file_path, read_setting
from ragchat.settings_schema import allowed_values, setting_types


@click.group(invoke_without_command=True)
@settings_option
@json_option
@click.pass_context
def config(ctx: click.Context, assignments: tuple[str, ...], as_json: bool) -> int:
    """Show every setting, its value and where it comes from; exit 2 when one of them cannot be used."""
    if ctx.invoked_subcommand is not None:
        return 0
    settings, problems = usable_settings_of(assignments)
    for problem in problems:
        complain(problem)
    code = UsageError.exit_code if problems else 0
    told = {
        name: {
            "value": _value(settings, name),
            "from": settings.origins.get(name, "default"),
            "allowed": allowed_values(name),
        }
        for name in setting_types()
    }
    if as_json:
        say_json(told)
        return code
    for name, facts in told.items():
        line = f"{name:26} {json.dumps(facts['value'], ensure_ascii=False):28}"
        say(f"{escape_line(line)} {styled(escape_line(str(facts['from'])), '2')}")
    note(f"the file is {config_file_path()}; ragchat config set KEY VALUE writes to it")
    return code


@config.command("path")
def config_path() -> int:
    """Print where the settings file is."""
    say(str(config_file_path()))
    return 0


@config.command("set")
@click.argument("key")
@click.argument("value")
def config_set(key: str, value: str) -> int:
    """Write KEY = VALUE into the settings file; what else stands there stays as it is.

    A key of the screen is set by its action: config set keys.viewer.back "q, escape"; what is not named is
    taken from it (see: config keys).
    """
    if key.startswith("keys."):
        from ragchat.cli.keys import set_keys

        return set_keys(key.removeprefix("keys."), value)
    fitted = read_setting(key, value, "config set")
    path = write_entry(key, fitted)
    note(f"{key} = {json.dumps(fitted, ensure_ascii=False)} in {path}")
    return 0


@config.command("keys")
@json_option
def config_keys(as_json: bool) -> int:
    """Print every key of the screen, and the name by which [keys] in the settings file gives it others."""
    from ragchat.cli.keys import print_keys

    return print_keys(as_json=as_json)


@click.command()
@folder_option
@json_option
def paths(folder: Path | None, assignments: tuple[str, ...], as_json: bool) -> int:
    """Print where everything lies. RAGCHAT_DATA_DIR, RAGCHAT_CACHE_DIR and RAGCHAT_CONFIG_DIR move it."""
    notes = chosen_folder(folder, settings_of(assignments))
    told = {
        "notes": notes,
        "index": places.folder_data_dir(notes),
        "data": places.data_dir(),
        "cache": places.cache_dir(),
        "config": config_file_path(),
        "themes": places.config_dir() / "themes",
        "bundled_themes": places.bundled_themes_dir(),
        "sample_notes": places.sample_notes_dir(),
    }
    if as_json:
        say_json({name: str(path) for name, path in told.items()})
        return 0
    for name, path in told.items():
        say(f"{name.replace('_', ' '):15} {escape_line(str(path))}")
    return 0


def _value(settings: Settings, name: str) -> object:
    section, _, key = name.partition(".")
    value = getattr(getattr(settings, section), key)
    return list(value) if isinstance(value, tuple) else value
