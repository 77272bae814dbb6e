"""What the commands share: which folder, which settings, JSON or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ragchat.errors import UsageError
from ragchat.settings import Settings
from ragchat.settings_loader import load_settings, load_usable_settings

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_BACKEND = "ragchat.index.backend"

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class FolderPath(click.Path):
    """A path that is not empty: `-f "$NOTES"` with nothing in it must not mean the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Raises UsageError."""
        if value == "":
            raise UsageError("the name of the folder is empty", hint="for the current folder write .")
        return super().convert(value, param, ctx)


def _remember_backend(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[_BACKEND] = value


def settings_option(command: Decorated) -> Decorated:
    """`--set KEY=VALUE` for any setting, and `--index URL` for the one that names a shared library."""
    command = click.option(
        "--index",
        metavar="URL",
        expose_value=False,
        callback=_remember_backend,
        help="A library shared in a database: postgresql://user@host/database.",
    )(command)
    return click.option(
        "--set",
        "assignments",
        metavar="KEY=VALUE",
        multiple=True,
        help="A setting for this run, as in retrieval.threshold=0.5 (see: ragchat config).",
    )(command)


def folder_option(command: Decorated) -> Decorated:
    """`-f FOLDER` and `--set KEY=VALUE`."""
    return click.option(
        "-f",
        "--folder",
        type=FolderPath(),
        help="The notes: else the configured folder, else the current one.",
    )(settings_option(command))


def settings_of(assignments: tuple[str, ...], **flags: object) -> Settings:
    """The settings with this run's flags on top. `retrieval__threshold=0.5` is the flag of that setting."""
    return load_settings(_flags(assignments, **flags))


def usable_settings_of(assignments: tuple[str, ...]) -> tuple[Settings, tuple[UsageError, ...]]:
    """What can be used of the settings, and what is wrong with the rest: for who is to mend them."""
    return load_usable_settings(_flags(assignments))


def _flags(assignments: tuple[str, ...], **flags: object) -> dict[str, object]:
    values: dict[str, object] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: write KEY=VALUE", hint="--set retrieval.threshold=0.5")
        values[name.strip()] = value.strip()
    backend = click.get_current_context().meta.get(_BACKEND)
    if backend is not None:
        values["index.backend"] = backend
    return values | {name.replace("__", "."): value for name, value in flags.items() if value is not None}


def chosen_folder(folder: Path | None, settings: Settings) -> Path:
    """The folder of notes, with its links followed."""
    if folder is None and settings.notes.folder:
        folder = Path(settings.notes.folder)
    return (folder or Path.cwd()).expanduser().resolve()
