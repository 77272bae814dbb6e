"""How paths, distances, ranges and other people's text are written on the screen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len, get_character_cell_size

from ragchat.answering.escape import escape_control, escape_line
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from ragchat.answering.turn import TurnSource
    from ragchat.documents.document import Locator

_BLANKS = re.compile(r"\s+")
_TIMES = re.compile(r"\d{1,9}(\.\d+)?,\d{1,9}(\.\d+)?")


def shown(text: str) -> str:
    """Text of notes, models and file names, safe to draw: control characters and broken bytes are escaped."""
    return escape_control(text)


def one_line(text: str, limit: int = 400) -> str:
    """Safe text on one line, cut with an ellipsis after `limit` characters."""
    flat = escape_line(_BLANKS.sub(" ", text[: 4 * limit]).strip())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def quoted(text: str, most: int) -> str:
    """Safe text on one line of at most `most` cells, cut behind a word where that costs little."""
    flat = one_line(text, 2 * most)
    if cell_len(flat) <= most:
        return flat
    kept, used = 0, 1
    for character in flat:
        used += get_character_cell_size(character)
        if used > most:
            break
        kept += 1
    cut = flat[:kept]
    blank = cut.rfind(" ")
    if flat[kept] != " " and 0 < kept - blank <= _LONG_WORD < blank:
        cut = cut[:blank]
    return f"{cut.rstrip()}…"


_LONG_WORD = 18
"""Cells that are given up for a whole word at the end."""


def beginning(text: str, lines: int = 8, characters: int = 1_200) -> str:
    """Safe text that a pasted page cannot fill the screen with; says how much more there is."""
    head = "\n".join(text[:characters].split("\n")[:lines])
    left = len(text) - len(head)
    return shown(head) + (f"\n… {left:,} characters more" if left else "")


def _commands() -> tuple[tuple[str, str], ...]:
    """Commands, and the keys that do the same on the screen."""
    return (
        ("with --model", f"with {key_for('chat.pick_model')}"),
        ("name a folder of notes: ragchat FOLDER", f"{key_for('chat.switch_folder')} opens another folder"),
        ("ragchat index --rebuild", f"{key_for('chat.reindex')} rebuilds the index"),
    )


def with_keys(hint: str) -> str:
    """A hint for the command line as one for the screen, where a key does the same."""
    for command, key in _commands():
        hint = key if hint == command else hint.replace(command, key)
    return shown(hint)


def folder_name(folder: Path) -> str:
    """The folder with the home folder written as ~."""
    try:
        short = "~/" + folder.absolute().relative_to(Path.home()).as_posix()
    except (ValueError, RuntimeError):
        short = str(folder.absolute())
    return shown(short.removesuffix("/."))


def count(number: int, noun: str) -> str:
    """ "1 document", "6,031 chunks"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def megabytes(size: int) -> str:
    """A size as a person says it."""
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{max(size / 1e6, 0.1):,.1f} MB"


def bar(fraction: float, width: int) -> str:
    """A bar of `width` cells, filled to `fraction`."""
    filled = round(max(0.0, min(1.0, fraction)) * width)
    return "█" * filled + "░" * (width - filled)


def closeness_bar(distance: float, width: int = 9) -> str:
    """A fuller bar is a nearer passage: `1 − distance`, since distance 1 means unrelated."""
    return bar(1.0 - distance, width)


def section_name(path: tuple[str, ...]) -> str:
    """`Lease > Term`; empty for the text before the first heading."""
    return one_line(" > ".join(path), 200)


def place_name(place: Locator) -> str:
    """What a page, slide, row or time is called at the edge of the text: `page 12`, `A2:C2`, `1:02:05`."""
    if place.kind == "sheet":
        return one_line(place.value.rpartition("!")[2], 24)
    if place.kind == "t":
        return _clock(place.value.partition(",")[0])
    return one_line(f"{place.kind} {place.value}", 24)


def _lines(source: TurnSource) -> str:
    last = f"–L{source.last_line}" if source.last_line != source.first_line else ""
    return f"L{source.first_line}{last}"


def _clock(seconds: str) -> str:
    whole = int(float(seconds))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def short_place(source: TurnSource) -> str:
    """The exact range, behind `page 12`, `0:05–3:10`, `A2:C9` where the format has it: `#char=1204,1690`."""
    kind, _, value = source.locator.partition("=")
    match kind:
        case "":
            told = ""
        case "t" if _TIMES.fullmatch(value):
            told = "–".join(map(_clock, value.split(",")))
        case "sheet":
            told = one_line(value.rpartition("!")[2], 24)
        case _:
            told = one_line(f"{kind} {value}", 24)
    return f"{told} #char={source.start},{source.end}".lstrip()


def place(source: TurnSource) -> str:
    """`#char=1204,1690 · L31–L42`, with a page or the like where the format has one."""
    parts = [f"#char={source.start},{source.end}", _lines(source)]
    if source.locator:
        parts.append(f"#{shown(source.locator)}")
    return " · ".join(parts)
