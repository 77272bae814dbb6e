"""What the first start asks, and what becomes of each answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragchat.errors import RagchatError
from ragchat.tui.formatting import shown
from ragchat.tui.recent import remember_welcome

if TYPE_CHECKING:
    from ragchat.tui.app import RagchatApp


def welcome(app: RagchatApp) -> None:
    """Ask where the notes are. Whoever skips it gets what was opened before there was a welcome."""
    from ragchat.tui.screens.welcome import WelcomeScreen

    async def answered(way: str | None) -> None:
        if way == "choose":
            _choose(app)
            return
        remember_welcome()
        if way == "sample":
            await _open_sample(app)
        else:
            app.open_session()

    app.push_screen(WelcomeScreen(app.folder or Path.cwd()), answered)


def _choose(app: RagchatApp) -> None:
    """Back to the welcome when none is chosen."""
    from ragchat.tui.recent import recent_folders
    from ragchat.tui.screens.folder import FolderScreen

    async def chosen(folder: Path | None) -> None:
        if folder is None:
            welcome(app)
        else:
            remember_welcome()
            await app.open_folder(folder)

    app.push_screen(FolderScreen(recent_folders(), None), chosen)


async def _open_sample(app: RagchatApp) -> None:
    from ragchat.cli.demo import copy_sample_notes, demo_settings

    try:
        app.settings, notes = demo_settings(), copy_sample_notes()
    except RagchatError as error:
        app.notify(shown(error.message), severity="error", markup=False)
        welcome(app)
    else:
        await app.open_folder(notes, demo=True)
