"""Open a note in the user's own editor, at the cited line where the editor can be told one."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath

_Arguments = Callable[[str, int], list[str]]


def _plus(path: str, line: int) -> list[str]:
    return [f"+{line}", path]


def _colon(path: str, line: int) -> list[str]:
    return [f"{path}:{line}"]


def _goto(path: str, line: int) -> list[str]:
    return ["--goto", f"{path}:{line}"]


def _option(path: str, line: int) -> list[str]:
    return ["--line", str(line), path]


_AT_LINE: dict[str, _Arguments] = {
    **dict.fromkeys(("vi", "vim", "nvim", "gvim", "view", "nano", "pico", "emacs", "emacsclient"), _plus),
    **dict.fromkeys(("micro", "kak", "joe", "mg", "ne", "jed", "gedit"), _plus),
    **dict.fromkeys(("hx", "helix", "subl", "zed", "zeditor"), _colon),
    **dict.fromkeys(("code", "codium", "vscodium", "code-insiders", "cursor", "windsurf"), _goto),
    "kate": _option,
    "mate": _option,
}
"""How each editor is told a line; others open the file at its beginning."""


class NoEditor(Exception):
    """There is none to open, and why; the message is one line for the user."""


def editor_command(path: Path, line: int) -> tuple[list[str], bool]:
    """The command that opens the file, and whether it opens at the line. Raises NoEditor.

    `$VISUAL` comes before `$EDITOR`, as everywhere; both may carry options.
    """
    for name in ("VISUAL", "EDITOR"):
        if not (told := os.environ.get(name, "").strip()):
            continue
        try:
            words = shlex.split(told)
        except ValueError as error:
            raise NoEditor(f"${name} cannot be read ({error}): {told}") from error
        if not words or shutil.which(words[0]) is None:
            raise NoEditor(f"${name} names a program that is not there: {told}")
        at_line = _AT_LINE.get(PurePath(words[0]).name.removesuffix(".exe"))
        arguments = at_line(str(path), line) if at_line and line else [str(path)]
        return [*words, *arguments], bool(at_line and line)
    raise NoEditor("no editor is set: put EDITOR=vim (or nano, hx, code …) into your shell's start-up file")


def run_editor(command: Sequence[str]) -> int:
    """Run it to its end in this terminal, and return its exit code. In the main thread. Raises OSError.

    What is typed to stop the editor reaches every program of the terminal: it must not end this one. A
    handler that does nothing is not inherited, as being ignored would be.
    """
    typed = [getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name)]
    before = {number: signal.signal(number, _not_for_us) for number in typed}
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _not_for_us(number: int, frame: object) -> None:
    """Stay."""
