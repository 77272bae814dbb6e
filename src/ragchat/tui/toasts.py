"""The part of the application that tells things in passing: few at once, and not for long.

Toasts lie over the text. What was merely done makes way for what is done next; a warning is kept beside it.
"""

from __future__ import annotations

from textual.app import App
from textual.notifications import Notify, SeverityLevel

_MOST = 2
_SHORTEST, _LONGEST = 2.5, 8.0
_LETTERS_A_SECOND = 25


def reading_seconds(text: str) -> float:
    """How long a toast is needed: a second to see it, then as long as one reads."""
    return min(max(1 + len(text) / _LETTERS_A_SECOND, _SHORTEST), _LONGEST)


class TellingApp(App[int]):
    """Never more than two toasts, and never two of what was merely done."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Tell it for as long as it takes to read, unless said otherwise."""
        timeout = reading_seconds(message) if timeout is None else timeout
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def on_notify(self, event: Notify) -> None:
        """Make room; Textual adds the new one afterwards."""
        new = event.notification
        for old in [*self._notifications]:
            both_are_done = old.severity == new.severity == "information"
            if both_are_done or (old.message, old.title) == (new.message, new.title):
                del self._notifications[old]
        in_the_way = sorted(self._notifications, key=lambda old: old.severity != "information")
        for old in in_the_way[: max(0, len(in_the_way) + 1 - _MOST)]:
            del self._notifications[old]
