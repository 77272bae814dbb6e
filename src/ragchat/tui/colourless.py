"""NO_COLOR: none at all, where Textual would still show greys; a background is told by reversing it."""

from __future__ import annotations

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

_REVERSED = Style(reverse=True)


class Colourless(LineFilter):
    """For the theme in the terminal's own colours, whose only backgrounds are those of cursors."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 -- Textual's
        """The same text without colours."""
        return [Segment(text, style and _without(style), control) for text, style, control in segments]


@lru_cache(1024)
def _without(style: Style) -> Style:
    marked = style.bgcolor is not None and not style.bgcolor.is_default
    plain = style.without_color
    return plain + _REVERSED if marked else plain
