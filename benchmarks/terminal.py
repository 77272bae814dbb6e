"""A program in a terminal of its own (a pty), driven key by key; times are taken at the bytes it writes.

No terminal is emulated: the keys that are timed are letters that stand nowhere else on the screen, so that
their bytes arriving is their being painted.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

_SECONDS = 120.0
_KEPT = 20_000
ROWS, COLUMNS = 36, 120


class Terminal:
    """36 rows of 120 columns. started: when the program was begun, by `time.perf_counter`."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.started = time.perf_counter()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            try:
                os.execve(command[0], list(command), dict(environment))
            finally:
                os._exit(127)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._seen = b""
        self._ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._terminal)

    def press(self, keys: str) -> None:
        """Write the keys' bytes, as a terminal would."""
        os.write(self._terminal, keys.encode())

    def wait_for(self, *signs: str, seconds: float = _SECONDS) -> float:
        """The moment at which any of these bytes has come, after those of the last wait.

        Raises TimeoutError with what was seen instead.
        """
        wanted = [sign.encode() for sign in signs]
        deadline = time.perf_counter() + seconds
        while not (found := [sign for sign in wanted if sign in self._seen]):
            if not self._read(deadline - time.perf_counter()):
                raise TimeoutError(f"none of {signs!r} within {seconds:.0f} s: {self._seen[-800:]!r}")
        moment = time.perf_counter()
        self._seen = self._seen.partition(found[0])[2]
        return moment

    def rest(self, seconds: float) -> None:
        """Let it write for so long, and forget that."""
        deadline = time.perf_counter() + seconds
        while (left := deadline - time.perf_counter()) > 0:
            self._read(left)
        self._seen = b""

    def seconds_to_paint(self, letter: str) -> float:
        """From the press of the key to the first byte sequence that draws it."""
        self._seen = b""
        pressed = time.perf_counter()
        self.press(letter)
        return self.wait_for(letter) - pressed

    def seconds_to_end(self, keys: str, *, seconds: float = 30.0) -> float:
        """From the press of these keys to the end of the process."""
        pressed = time.perf_counter()
        self.press(keys)
        while time.perf_counter() - pressed < seconds:
            self._read(0.002)
            pid, _ = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._ended = True
                return time.perf_counter() - pressed
        raise TimeoutError(f"it does not end within {seconds:.0f} s")

    def _read(self, seconds: float) -> bool:
        """Whether something came."""
        if seconds <= 0 or not select.select([self._terminal], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # Linux's way to say that the other end is closed
            return False
        self._seen = self._seen[-_KEPT:] + data
        return bool(data)
