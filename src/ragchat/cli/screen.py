"""`ragchat FOLDER` and `ragchat demo`: the screen."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import click

from ragchat.cli.options import FolderPath, chosen_folder, settings_of, settings_option
from ragchat.errors import FolderMissing, UsageError
from ragchat.settings import IndexSettings, Settings


@click.command(name="open")
@click.argument("folder", required=False, type=FolderPath())
@click.option("-f", "--folder", "named", type=FolderPath(), help="The same as FOLDER.")
@settings_option
def open_screen(folder: Path | None, named: Path | None, assignments: tuple[str, ...]) -> int:
    """Open the screen on FOLDER (else the configured folder, else the current one)."""
    settings = settings_of(assignments)
    notes = chosen_folder(folder or named, settings)
    is_shared = bool(settings.index.backend)  # of a folder that may be on another machine
    if not is_shared and not notes.is_dir() and (notes.exists() or not _was_indexed(notes, settings)):
        what = "is no folder" if notes.exists() else "is not there"
        raise FolderMissing(f"{notes} {what}", hint="name a folder of notes: ragchat FOLDER")
    if not on_a_terminal():
        raise UsageError(
            "the screen needs a terminal for its input and output",
            hint='without one: ragchat ask "…", ragchat search "…"',
        )
    from ragchat.tui import run

    named_nothing = not (folder or named or assignments or settings.notes.folder or is_shared)
    return run(notes, settings, demo=False, welcome=named_nothing)


@click.command()
@click.option("--plain", is_flag=True, help="No screen: ask a few questions and print the answers.")
@click.option(
    "--backend",
    type=click.Choice(["local", "postgres"]),
    default="local",
    help="Keep the index in a file, or in a PostgreSQL server started for the demo.",
)
def demo(plain: bool, backend: str) -> int:
    """Try ragchat on bundled sample notes, copied to a folder of their own.

    Without a terminal it asks a few questions, as --plain does.
    """
    from ragchat.cli.demo import copy_sample_notes, demo_database, demo_settings

    notes, settings = copy_sample_notes(), demo_settings()
    if backend == "local":
        return _run_demo(notes, settings, plain=plain)
    with demo_database() as url:
        shared = replace(settings, index=IndexSettings(backend=url))
        from ragchat.answering.workspace import Workspace
        from ragchat.cli.opening import update_index

        update_index(Workspace(notes, shared))
        return _run_demo(notes, shared, plain=plain)


def _run_demo(notes: Path, settings: Settings, *, plain: bool) -> int:
    if plain or not on_a_terminal():
        from ragchat.cli.demo import print_demo

        return print_demo(notes, settings)
    from ragchat.tui import run

    return run(notes, settings, demo=True)


def on_a_terminal() -> bool:
    """Whether there is a keyboard to read and a terminal to draw on."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _was_indexed(notes: Path, settings: Settings) -> bool:
    from ragchat.answering.workspace import Workspace

    return Workspace(notes, settings).has_index()
