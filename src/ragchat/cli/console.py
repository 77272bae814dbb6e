"""stdout is data, stderr is progress and notes; both survive any locale, pipe and file name."""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ragchat.answering.escape import escape_line
from ragchat.errors import RagchatError


def prepare_streams() -> None:
    """What the terminal's encoding cannot say is written out (`\\u30c6`) instead of ending the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        # ASCII is what a missing locale says; nobody pipes in notes or questions that are only that.
        encoding = "utf-8" if sys.stdin.encoding.lower() in ("ascii", "ansi_x3.4-1968") else None
        sys.stdin.reconfigure(encoding=encoding, errors="replace")


def readable(argument: str) -> str:
    """A command line's words as text: bytes that a poor locale could not decode are read as UTF-8."""
    return os.fsencode(argument).decode("utf-8", "replace")


def say(text: str = "", *, end: str = "\n") -> None:
    """Data, to stdout, at once."""
    sys.stdout.write(text + end)
    sys.stdout.flush()


def say_json(value: object) -> None:
    """One object on one line, as JSON that is valid in any locale."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        # An ASCII terminal, or a file name whose bytes are no text: only the escaped form carries that.
        text = json.dumps(value)
    say(text)


def note(text: str) -> None:
    """Something to know, to stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def complain(error: RagchatError) -> None:
    """One clear line, and one that says what to do next."""
    note(f"ragchat: {escape_line(error.message)}")
    if error.hint:
        note(f"  hint: {escape_line(error.hint)}")


def is_terminal() -> bool:
    """Whether stdout is a terminal that understands escape sequences."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def styled(text: str, code: str) -> str:
    """The text in an SGR style ("1" bold, "2" dim) where colour is wanted."""
    return f"\x1b[{code}m{text}\x1b[0m" if is_terminal() and not os.environ.get("NO_COLOR") else text


def linked(text: str, address: str) -> str:
    """The text as a link (OSC 8) on a terminal. The address must be percent-encoded."""
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\" if is_terminal() else text


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Ctrl-C sets the event, so that what has been done is kept; a second one ends at once."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 -- the signal module's signature
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield stopped
    finally:
        signal.signal(signal.SIGINT, before)
