"""`share`: let other people read a library that is kept in a database."""

from __future__ import annotations

from pathlib import Path

import click

from ragchat.answering.escape import escape_line
from ragchat.cli.console import say
from ragchat.cli.opening import open_workspace
from ragchat.cli.options import folder_option, settings_of


@click.command()
@click.argument("role")
@folder_option
def share(role: str, folder: Path | None, assignments: tuple[str, ...]) -> int:
    """Let the database role ROLE read the shared library, as far as the documents' audiences allow."""
    workspace = open_workspace(folder, settings_of(assignments))
    workspace.share(role)
    say(f"{escape_line(role)} may read {escape_line(workspace.status().library)}")
    return 0
