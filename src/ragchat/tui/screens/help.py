"""Every key on one page, made from the bindings themselves."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ragchat.tui import keys
from ragchat.tui.widgets.key_bar import KeyBar

_LEFT = 3
"""So many topics stand in the left column."""


class HelpScreen(Screen[None]):
    """Keys by where they work."""

    BINDINGS = keys.HELP
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- Textual declares it
    CSS_PATH = "../styles/pages.tcss"

    def compose(self) -> ComposeResult:
        """One block a topic; two columns where there is room."""
        with VerticalScroll(id="help") as page:
            page.border_title = "Keys"
            with Horizontal():
                with Vertical():
                    for topic in keys.TOPICS[:_LEFT]:
                        yield Static(_block(topic), classes="topic")
                    yield Static(_signs(), classes="topic")
                with Vertical():
                    for topic in keys.TOPICS[_LEFT:]:
                        yield Static(_block(topic), classes="topic")
        yield KeyBar()


def _block(topic: keys.Topic) -> Content:
    lines = [Content.styled(topic.title, "bold $primary")]
    for binding in topic.bindings:
        assert isinstance(binding, Binding)
        if binding.tooltip:
            lines.append(
                Content.assemble((f"  {keys.shown_key(binding):<9}", "bold $accent"), binding.tooltip)
            )
    return Content("\n").join(lines)


def _signs() -> Content:
    signs = {
        "[1]": "a source: click it, or alt+1",
        "[7]✗": "the model named a source there is not",
        "● ▲ ○": "fine · look here · not there",
        "◐ ■": "working · stopped by you",
        "0.31": "cosine distance: 0 the same, 1 unrelated",
    }
    lines = [Content.styled("What the signs mean", "bold $primary")]
    lines += [Content.assemble((f"  {sign:<9}", "bold $accent"), meaning) for sign, meaning in signs.items()]
    return Content("\n").join(lines)
