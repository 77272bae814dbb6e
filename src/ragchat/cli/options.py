"""What the commands share: which folder, which settings, an index that is up to date."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ragchat.answering.escape import escape_line
from ragchat.answering.workspace import Workspace
from ragchat.cli.console import interruptible, note
from ragchat.cli.progress import IndexingLine
from ragchat.errors import FolderMissing, FolderTooLarge, IndexLocked, StorageFailed, UsageError
from ragchat.settings import Settings
from ragchat.settings_loader import load_settings

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def settings_option(command: Decorated) -> Decorated:
    """`--set KEY=VALUE` for any setting."""
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
        type=click.Path(path_type=Path),
        help="The notes: else the configured folder, else the current one.",
    )(settings_option(command))


def settings_of(assignments: tuple[str, ...], **flags: object) -> Settings:
    """The settings with this run's flags on top. `retrieval__threshold=0.5` is the flag of that setting."""
    values: dict[str, object] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise UsageError(f"--set {assignment}: write KEY=VALUE", hint="--set retrieval.threshold=0.5")
        values[name.strip()] = value.strip()
    values |= {name.replace("__", "."): value for name, value in flags.items() if value is not None}
    return load_settings(values)


def chosen_folder(folder: Path | None, settings: Settings) -> Path:
    """The folder of notes, with its links followed."""
    if folder is None and settings.notes.folder:
        folder = Path(settings.notes.folder)
    return (folder or Path.cwd()).expanduser().resolve()


def open_workspace(folder: Path | None, settings: Settings) -> Workspace:
    """The workspace of the folder; nothing is read yet."""
    return Workspace(chosen_folder(folder, settings), settings)


def confirm_size(workspace: Workspace) -> None:
    """A huge folder is indexed only when the user has said so; one that has an index was agreed to before."""
    if workspace.has_index() or not (reason := workspace.survey().confirm):
        return
    asked = f"{escape_line(str(workspace.folder))}: {reason}"
    may_ask = sys.stdin.isatty() and sys.stderr.isatty()
    if not (may_ask and click.confirm(f"{asked}. Index it?", default=False, err=True)):
        raise FolderTooLarge(
            f"{asked}; it was not indexed", hint=f"ragchat index --yes -f {workspace.folder}"
        )


def bring_up_to_date(workspace: Workspace) -> None:
    """Edits show in this question. What is indexed already serves where that cannot be."""
    confirm_size(workspace)
    line = IndexingLine()
    try:
        with interruptible() as stopped:
            report = workspace.update(on_progress=line, cancel=stopped)
    except (FolderMissing, IndexLocked, StorageFailed) as error:
        if not workspace.has_index():
            raise
        line.finish()
        note(f"note: {escape_line(error.message)}; searching the index as it is")
        return
    finally:
        line.finish()
    if stopped.is_set():
        raise KeyboardInterrupt
    for warning in (report.warning, report.embedding_error):
        if warning:
            note(f"note: {escape_line(warning)}")
