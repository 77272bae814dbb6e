"""One source: its number, document, distance, section, range and quote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import Click
from textual.message import Message
from textual.widgets import Static

from ragchat.tui.formatting import closeness_bar, one_line, place, quoted, short_place

if TYPE_CHECKING:
    from ragchat.answering.turn import TurnSource


class SourceCard(Vertical):
    """One source: four lines beside the conversation, one in the drawer. A click opens it at its range."""

    class Clicked(Message):
        """Open this source."""

        def __init__(self, card: SourceCard) -> None:
            self.card = card
            super().__init__()

    def __init__(self, source: TurnSource, standing: str) -> None:
        super().__init__(classes="source")
        self.source = source
        self._standing = standing

    def stand(self, standing: str) -> None:
        """What the source is worth now: sent, cited, not cited, did not fit, no evidence."""
        if standing != self._standing:
            self._standing = standing
            self.query_one(".standing", Static).update(self._place())
            self.query_one(".short", Static).update(f" {self._short()}")

    def compose(self) -> ComposeResult:
        """Number and document with the distance, section, range, quote."""
        source = self.source
        name, section = one_line(source.document, 300), one_line(source.section, 200)
        with Horizontal():
            yield Static(
                Content.assemble((f"{source.number or '–'} ", "bold $cite"), (name, "bold")), classes="name"
            )
            yield Static(f" · {section}" if section else "", classes="in-drawer", markup=False)
            yield Static(f" {self._short()}", classes="in-drawer short", markup=False)
            yield Static(f" {source.distance:.2f} {closeness_bar(source.distance)}", classes="distance")
        if section:
            yield Static(section, classes="section", markup=False)
        yield Static(self._place(), classes="standing", markup=False)
        yield Static(f"“{quoted(source.quote, 110)}”", classes="quote", markup=False)
        if source.also_in:
            also = one_line(", ".join(source.also_in), 300)
            yield Static(f"also in {also}", classes="section", markup=False)

    def _place(self) -> str:
        return f"{place(self.source)} · {self._standing}"

    def _short(self) -> str:
        return f"{short_place(self.source)} {self._standing}"

    def go_there(self) -> None:
        """Open it."""
        self.post_message(self.Clicked(self))

    def on_click(self, event: Click) -> None:
        """Open it."""
        event.stop()
        self.post_message(self.Clicked(self))
