"""Folders whose path begins as it was typed."""

from __future__ import annotations

import os
from pathlib import Path

_MOST = 200
_LOOKED_AT = 20_000
"""A folder of more entries is not read to its end: who looks for one of them types on."""


def folders_like(typed: str) -> list[str]:
    """Paths as one would type them on, each ending in a slash; hidden ones only where a dot was typed.

    Upper and lower case are the same; what begins exactly as typed comes first. Reads one folder.
    """
    if "\0" in typed:
        return []
    head, slash, begun = typed.rpartition("/")
    if not slash:
        head, slash, begun = ("~", "/", "") if typed == "~" else ("", "", typed)
    found: list[str] = []
    try:
        where = Path(head or slash or ".").expanduser()
        with os.scandir(where) as entries:
            for number, entry in enumerate(entries):
                if number >= _LOOKED_AT or len(found) >= _MOST:
                    break
                name = entry.name
                if not name.lower().startswith(begun.lower()) or (name[0] == "." and not begun):
                    continue
                if entry.is_dir():
                    found.append(name)
    except (OSError, RuntimeError, ValueError):
        return []
    found.sort(key=lambda name: (not name.startswith(begun), name.lower()))
    return [f"{head}{slash}{name}/" for name in found]


def completed(typed: str, paths: list[str]) -> str:
    """What was typed, as far as all that begin like it go on in the same way."""
    if not paths:
        return typed
    common = os.path.commonprefix(paths)  # noqa: RUF071 -- letters are what is typed on
    return common if len(common) > len(typed) else paths[0] if len(paths) == 1 else typed
