"""Open a note's own file in the system's viewer, at the cited page where that viewer can."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

_AT_PAGE = (
    ("evince", "--page-index={page}"),
    ("xreader", "--page-index={page}"),
    ("atril", "--page-index={page}"),
    ("okular", "--page={page}"),
    ("zathura", "--page={page}"),
)
"""Viewers of PDF that open at a page, and how each is told."""


def command_for(path: Path, locator: str) -> tuple[list[str], str]:
    """The command that opens the file, and where it will open: "page 12", or "" for its beginning.

    ([], "") where there is none, as on Windows.
    """
    kind, _, value = locator.partition("=")
    if path.suffix.lower() == ".pdf" and kind == "page" and value.isdigit():
        for program, option in _AT_PAGE:
            if shutil.which(program):
                return [program, option.format(page=value), str(path)], f"page {value}"
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    return ([opener, str(path)], "") if shutil.which(opener) else ([], "")


def open_original(path: Path, locator: str) -> str:
    """Open the file and return what was done, in a few words. Raises OSError."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is no longer there")
    command, where = command_for(path, locator)
    if command:
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return f"opened in {command[0]}" + (f" at {where}" if where else "")
    if sys.platform == "win32":
        os.startfile(path)
        return "opened"
    raise FileNotFoundError("there is no program here that opens files (xdg-open)")
