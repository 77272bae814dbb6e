"""What takes long at a moment when no key waits for it: full garbage collections, and drawing an answer.

Among the screen's hundred thousand objects a collection takes a tenth of a second, and a long answer that is
being drawn would ask for one every few seconds. So the collector looks at the young objects alone, and the
old ones are looked through while nobody types. What survives is set aside and not looked at again.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable

from textual.events import Event, Key, Paste

EVERY_SECONDS = 1.0
_QUIET_SECONDS = 1.0
_TYPING_SECONDS = 0.3
_REPEAT_SECONDS = 0.05
"""Keys that follow each other faster are one that is held down: there is no time for anything in between."""
_DUE, _OVERDUE = 10, 200
"""So many collections of younger objects: the interpreter's own rule, and when a key must wait after all."""
_NEVER = 1_000_000
_YOUNG = 20_000
"""New objects until the youngest are looked through: a drawing makes so many, and hardly any survives it."""


class Housekeeping:
    """Told of every event; `tend` is called every second."""

    def __init__(self) -> None:
        self._typed_at = 0.0
        self._is_repeating = False
        self._behind_key: Callable[[], Awaitable[None]] | None = None
        self._thresholds = gc.get_threshold()

    def begin(self) -> None:
        """The screen stands: what was imported and mounted for it stays."""
        young, middle, _ = self._thresholds
        gc.set_threshold(max(young, _YOUNG), middle, _NEVER)
        gc.freeze()
        gc.enable()

    def note(self, event: Event) -> None:
        """Remember when something was typed."""
        if isinstance(event, Key | Paste):
            now = time.monotonic()
            self._is_repeating = now - self._typed_at < _REPEAT_SECONDS
            self._typed_at = now

    def do_behind_key(self, act: Callable[[], Awaitable[None]]) -> None:
        """Have this done as soon as the next key is painted: then the one after it is farthest away."""
        self._behind_key = act

    def behind_key(self) -> Callable[[], Awaitable[None]] | None:
        """What is to be done when the key that was noted last is painted; it is asked for once."""
        if self._is_repeating:
            return None
        act, self._behind_key = self._behind_key, None
        return act

    @property
    def is_typing(self) -> bool:
        """Whether a key came a moment ago, so that another may come any moment."""
        return time.monotonic() - self._typed_at < _TYPING_SECONDS

    def tend(self) -> None:
        """Collect what has become garbage, if there may be much and nobody is typing."""
        waiting = gc.get_count()[2]
        quiet = time.monotonic() - self._typed_at >= _QUIET_SECONDS
        if waiting >= (_DUE if quiet else _OVERDUE):
            gc.collect()
            gc.freeze()

    def look_again(self) -> None:
        """What was set aside may be garbage now: another folder is opened."""
        gc.unfreeze()

    def end(self) -> None:
        """The interpreter's own rule holds again."""
        gc.set_threshold(*self._thresholds)
        gc.unfreeze()
