"""The screen: it shows what the workspace tells, and decides nothing about evidence.

`run` is the only door. Importing this package loads nothing of Textual.
"""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragchat.settings import Settings


def run(folder: Path | None, settings: Settings, *, demo: bool = False, welcome: bool = False) -> int:
    """Show the screen until the user leaves; returns the exit code.

    welcome: nobody named the folder, so somebody who is here for the first time is asked for one.
    folder: the notes; None asks for one (with `demo`, the bundled sample notes are opened instead).
    """
    gc.disable()  # until the first frame: nothing made before it is garbage
    from ragchat.paths import sample_notes_dir
    from ragchat.tui.app import RagchatApp

    app = RagchatApp(sample_notes_dir() if demo and folder is None else folder, settings, demo=demo)
    app.welcomes = welcome
    app.run(mouse=settings.screen.mouse)
    gc.freeze()  # leaving is not held up by sorting out garbage: it takes a third of a second
    return app.return_code or 0
