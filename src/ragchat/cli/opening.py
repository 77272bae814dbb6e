"""A folder's workspace, with an index that is up to date."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import click

from ragchat.answering.escape import escape_line
from ragchat.answering.workspace import Workspace
from ragchat.cli.console import interruptible, note
from ragchat.cli.options import chosen_folder
from ragchat.cli.progress import IndexingLine
from ragchat.embedding.threads import usable_cores
from ragchat.errors import FolderMissing, FolderTooLarge, IndexLocked, StorageFailed
from ragchat.index.progress import IndexReport
from ragchat.settings import Settings

_OTHERS_SECONDS = 3.0
"""So long another process that writes to the index is waited for."""


def open_workspace(folder: Path | None, settings: Settings) -> Workspace:
    """The workspace of the folder; nothing is read yet. No screen needs a core: unless set, all embed."""
    if not settings.embedding.threads:
        settings = replace(settings, embedding=replace(settings.embedding, threads=usable_cores()))
    workspace = Workspace(chosen_folder(folder, settings), settings)
    # A database is told that its connection ends, rather than to find it broken off.
    click.get_current_context().call_on_close(workspace.close)
    return workspace


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
    """Edits show in this question. What is indexed already serves where that cannot be.

    A shared library is searched as it is: `ragchat index` alone changes what others see.
    """
    if not workspace.is_shared:
        update_index(workspace)


def update_index(workspace: Workspace) -> None:
    """Index what has changed; note what could not be."""
    confirm_size(workspace)
    line = IndexingLine()
    try:
        with interruptible() as stopped:
            report = _update(workspace, line, stopped)
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
        if warning and warning != line.notice:
            note(f"note: {escape_line(warning)}")


def _update(workspace: Workspace, line: IndexingLine, stopped: threading.Event) -> IndexReport:
    """An open screen that indexes an edit is done in a moment; an index being made is not waited for."""
    deadline = time.monotonic() + _OTHERS_SECONDS
    while True:
        try:
            return workspace.update(on_progress=line, cancel=stopped)
        except IndexLocked:
            if time.monotonic() > deadline or stopped.wait(0.1):
                raise
