"""`pull`: have the model server download a model."""

from __future__ import annotations

from pathlib import Path

import click

from ragchat.answering.choice import SUGGESTED_MODEL
from ragchat.answering.escape import escape_line
from ragchat.cli.console import interruptible, note, readable, say, say_json
from ragchat.cli.opening import open_workspace
from ragchat.cli.options import folder_option, json_option, settings_of
from ragchat.cli.progress import PullLine
from ragchat.errors import UsageError

INTERRUPTED = 130


@click.command()
@click.argument("model", required=False)
@folder_option
@json_option
def pull(model: str | None, folder: Path | None, assignments: tuple[str, ...], as_json: bool) -> int:
    """Have the model server download MODEL: else the folder's model, else a small one that cites well.

    Ctrl-C stops it; the same command goes on where it stopped. Exit 4: the server could not.
    """
    workspace = open_workspace(folder, settings_of(assignments))
    if model is not None and not (model := readable(model).strip()):
        raise UsageError("the model's name is empty", hint=f"ragchat pull {SUGGESTED_MODEL}")
    name = model or workspace.model() or SUGGESTED_MODEL
    line = PullLine(name)
    try:
        with interruptible() as stopped:
            installed = workspace.pull_model(name, on_progress=line, cancel=stopped)
    finally:
        line.finish()
    if as_json:
        say_json({"model": name, "installed": installed})
    elif installed:
        say(f"{escape_line(name)} is installed")
    if not installed:
        note(f"stopped; it goes on where it stopped with: ragchat pull {escape_line(name)}")
    return 0 if installed else INTERRUPTED
