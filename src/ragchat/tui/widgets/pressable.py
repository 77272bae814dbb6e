"""A line of text parts that can be pressed with the mouse, each keeping its own colour.

Textual's `@click` draws every part as a link; here the action travels in the style's meta data alone.
"""

from __future__ import annotations

from textual.content import Content
from textual.events import Click
from textual.style import Style
from textual.widget import Widget

_META = "press"


def pressable(content: Content, action: str) -> Content:
    """The content, running `action` when it is clicked in a PressableLine."""
    return content.stylize(Style.from_meta({_META: action}))


class PressableLine(Widget):
    """Runs the action of the part that was clicked."""

    async def on_click(self, event: Click) -> None:
        """Run it."""
        action = event.style.meta.get(_META)
        if isinstance(action, str):
            event.stop()
            await self.run_action(action)
