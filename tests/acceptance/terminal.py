"""A terminal that a test can read: pexpect runs the program, pyte draws what it writes."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import pexpect
import pyte

KEYS = {"alt+1": "\x1b1", "f1": "\x1bOP", "ctrl+e": "\x05", "ctrl+q": "\x11", "escape": "\x1b"}


class Terminal:
    """One program on a screen of so many columns and rows."""

    def __init__(
        self, command: Sequence[str], cwd: Path, environ: Mapping[str, str], columns: int, rows: int
    ) -> None:
        self.raw = ""
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.Stream(self._screen)
        self._child = pexpect.spawn(
            command[0],
            list(command[1:]),
            cwd=str(cwd),
            env=dict(environ),
            dimensions=(rows, columns),
            encoding="utf-8",
            timeout=30,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close(force=True)

    @property
    def text(self) -> str:
        """What stands on the screen now."""
        return "\n".join(self._screen.display)

    def type(self, text: str) -> None:
        """Type the text, or press the key of that name."""
        self._child.send(KEYS.get(text, text))

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._child.sendintr()

    def wait_for(self, pattern: str, seconds: float = 45) -> str:
        """The screen, as soon as the pattern stands on it."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} never came:\n{self.text}")
            self._read()
        return self.text

    def wait_for_exit(self, seconds: float = 30) -> int:
        """Its exit code. Everything it still wrote is on the screen."""
        deadline = time.monotonic() + seconds
        while self._read():
            if time.monotonic() > deadline:
                raise AssertionError(f"it does not end:\n{self.text}")
        self._child.close()
        assert self._child.exitstatus is not None, (
            f"ended by signal {self._child.signalstatus}:\n{self.raw[-2000:]}"
        )
        return int(self._child.exitstatus)

    def _read(self) -> bool:
        """Draw what has come; False once the program has closed its terminal."""
        try:
            text = self._child.read_nonblocking(65536, timeout=0.1)
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        self.raw += text
        # pyte does not know the kitty keyboard protocol's sequences and would print them.
        self._stream.feed(re.sub(r"\x1b\[[<>=][\d;]*u", "", text))
        return True
