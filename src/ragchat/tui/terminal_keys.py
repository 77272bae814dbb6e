"""Keys as terminals send them, where Textual reads something else."""

from __future__ import annotations

from string import ascii_lowercase
from typing import NamedTuple, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.keys import Keys


class _Pressed(NamedTuple):
    """Stands in the table where a member of `Keys` would, which has none for alt."""

    value: str


def read_alt_as_keys() -> None:
    """`ESC 1` is alt+1 here, `ESC x` alt+x, at once.

    Textual takes the first for the `¡` that option+1 types on a Mac; every other terminal, tmux and ssh send
    it for alt+1, which opens a source. Left to its guess for what is in no table, a key or a click that
    follows at once would turn either into a typed `^1`.
    """
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    for digit in "123456789":
        table[f"\x1b{digit}"] = (_Pressed(f"alt+{digit}"),)
    for letter in ascii_lowercase:
        table.setdefault(f"\x1b{letter}", (_Pressed(f"alt+{letter}"),))


def read_alt_enter_as_new_line() -> None:
    """alt+enter makes a new line, as in other chat programs; Textual takes it for enter, which would ask."""
    table = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
    table["\x1b\r"] = table["\x1b\n"] = (Keys.ControlJ,)
