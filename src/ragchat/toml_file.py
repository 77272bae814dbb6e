"""Read a TOML file that somebody else wrote: whatever it holds costs a line, never a hang or a crash."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path


def read_toml(path: Path, largest: int) -> tuple[str, dict[str, object]]:
    """The file as text and as tables; a byte order mark is left out. largest: bytes.

    Raises OSError, and ValueError with what is wrong: no regular file (a pipe would be waited for without
    end), too large, no UTF-8, no TOML.
    """
    # A pipe may take the file's place between a look and an opening: it is opened without waiting.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no file")
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is larger than {largest // 1024} KB")
    text = content.decode("utf-8-sig")
    try:
        return text, tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
