"""Keys as terminals send them, where Textual reads something else."""

from __future__ import annotations

from typing import cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import Keys


def read_alt_digits_as_keys() -> None:
    """`ESC 1` is alt+1 here.

    Textual takes it for the `¡` that option+1 types on a Mac; every other terminal, tmux and ssh send it for
    alt+1, which opens a source.
    """
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in "123456789":
        table.pop(f"\x1b{digit}", None)


def read_alt_enter_as_new_line() -> None:
    """alt+enter makes a new line, as in other chat programs; Textual takes it for enter, which would ask."""
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    table["\x1b\r"] = table["\x1b\n"] = (Keys.ControlJ,)
