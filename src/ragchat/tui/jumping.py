"""The places on a screen that a letter goes to: panes, sources, turns, and all that can be clicked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from textual.app import App
from textual.geometry import Offset
from textual.screen import Screen
from textual.widget import Widget

from ragchat.tui.widgets.key_bar import KeyBar

LETTERS = "asdfghjklqwertyuiopzxcvbnm1234567890"
"""The keys under the fingers first."""
_CLICKS = ("press", "@click")


class Place(NamedTuple):
    """Where its letter is drawn, and what going there does."""

    at: Offset
    go: Callable[[], object]


def places(app: App[int], screen: Screen[object]) -> list[Place]:
    """As many as there are letters; in reading order."""
    found: dict[Offset, Place] = {}
    for place in (*_panes(screen), *_rows(screen), *_links(app, screen)):
        found.setdefault(place.at, place)
    return sorted(found.values(), key=lambda place: (place.at.y, place.at.x))[: len(LETTERS)]


def _panes(screen: Screen[object]) -> Iterator[Place]:
    for widget in screen.focus_chain:
        if widget.region:
            yield Place(widget.region.offset + Offset(1, 0), widget.focus)


def _rows(screen: Screen[object]) -> Iterator[Place]:
    """Turns and source cards: their own method says what it is to go there."""
    for widget in screen.query("TurnView, SourceCard"):
        go = getattr(widget, "go_there", None)
        parent = widget.parent
        if go is None or not isinstance(parent, Widget) or not widget.region:
            continue
        if parent.region.contains_point(widget.region.offset):
            yield Place(widget.region.offset, go)


def _links(app: App[int], screen: Screen[object]) -> Iterator[Place]:
    """What can be clicked, where it is drawn first."""
    seen: set[tuple[str, int]] = set()
    for y, strip in enumerate(screen._compositor.render_strips()):
        x = 0
        for segment in strip:
            meta = segment.style.meta if segment.style is not None else {}
            action = next((meta[name] for name in _CLICKS if name in meta), None)
            if action is not None:
                widget, _ = screen.get_widget_at(x, y)
                key = (str(action), id(widget) if widget.id else 0)
                if key not in seen and not isinstance(widget, KeyBar):
                    seen.add(key)
                    yield Place(Offset(x, y), partial(app.run_action, action, widget))
            x += segment.cell_length


def letters(found: list[Place]) -> dict[str, Place]:
    """Each place by its letter."""
    return dict(zip(LETTERS, found, strict=False))
