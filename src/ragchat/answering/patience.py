"""Wait for something slow, and stop waiting the moment the user says so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")

_POLL = 0.03


class Stopped(Exception):
    """The user said stop."""


def unless_stopped(call: Callable[[], T], cancel: threading.Event) -> T:
    """What `call` returns or raises. Raises Stopped at once when `cancel` is set; the call ends unheard."""
    outcome: SimpleQueue[tuple[T | None, Exception | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcome.put((call(), None))
        except Exception as error:  # it belongs to whoever waits
            outcome.put((None, error))

    threading.Thread(target=run, name="ragchat-patience", daemon=True).start()
    while not cancel.is_set():
        try:
            result, error = outcome.get(timeout=_POLL)
        except Empty:
            continue
        if error is not None:
            raise error
        return result  # type: ignore[return-value]  # without an error it is what the call returned
    raise Stopped
