"""The numbered sources of the selected turn, with their distances, ranges and quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ragchat.tui import keys
from ragchat.tui.formatting import closeness_bar
from ragchat.tui.keys import key_for

if TYPE_CHECKING:
    from ragchat.answering.turn import TurnSource
    from ragchat.tui.evidence import Evidence
    from ragchat.tui.widgets.source_card import SourceCard


def _identity(source: TurnSource) -> tuple[int, str, int, int, float]:
    return source.number, source.document, source.start, source.end, source.distance


def _standing(source: TurnSource, evidence: Evidence | None) -> str:
    if not source.number:
        return "did not fit"
    if evidence is None or not evidence.finished:
        return "sent"
    if not evidence.evidential:
        return "no evidence"
    return "cited" if source.cited else "not cited"


class SourcesPanel(VerticalScroll):
    """Shows one turn's evidence; under 100 columns it is a drawer below the conversation."""

    FOCUS_ON_CLICK = False
    """A click opens a source; what is typed afterwards still goes to the prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [*keys.PANE, *keys.SOURCES]

    class OpenWanted(Message):
        """Open what stands at this position of the list, from 0."""

        def __init__(self, position: int) -> None:
            self.position = position
            super().__init__()

    class CopyWanted(Message):
        """Copy the current source's quote, or its citation."""

        def __init__(self, source: TurnSource, *, citation: bool = False) -> None:
            self.source = source
            self.citation = citation
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="sources")
        self.border_title = "Sources"
        self.evidence: Evidence | None = None
        self._current = 0

    def compose(self) -> ComposeResult:
        """A place for the words when there is no source."""
        yield Static("The passages an answer rests on appear here.", id="no-sources")

    async def show(self, evidence: Evidence | None) -> None:
        """Another turn's sources."""
        from ragchat.tui.widgets.source_card import SourceCard

        self.evidence = evidence
        self.border_title, self.border_subtitle = self._titles(evidence)
        words = self.query_one("#no-sources", Static)
        words.display = evidence is None or not evidence.sources
        words.update(self._words(evidence))
        sources = evidence.listed if evidence is not None else ()
        if [_identity(card.source) for card in self.cards] == [_identity(source) for source in sources]:
            for card, source in zip(self.cards, sources, strict=True):
                card.stand(_standing(source, evidence))
            return
        self._current = 0
        await self.query_children(".source").remove()
        await self.mount_all([SourceCard(source, _standing(source, evidence)) for source in sources])
        self.move_to(0)

    @property
    def cards(self) -> list[SourceCard]:
        """The sources in the order of their numbers."""
        from ragchat.tui.widgets.source_card import SourceCard

        return list(self.query_children(SourceCard))

    def move_to(self, position: int) -> None:
        """Make another source the current one."""
        cards = self.cards
        if not cards:
            return
        self._current = max(0, min(position, len(cards) - 1))
        for at, card in enumerate(cards):
            card.set_class(at == self._current, "current")
        cards[self._current].scroll_visible(animate=False)

    def on_source_card_clicked(self, message: SourceCard.Clicked) -> None:
        """Open the source that was clicked."""
        message.stop()
        self.move_to(self.cards.index(message.card))
        self.action_open()

    def action_previous_source(self) -> None:
        """The source before."""
        self.move_to(self._current - 1)

    def action_next_source(self) -> None:
        """The source after."""
        self.move_to(self._current + 1)

    def action_open(self) -> None:
        """Open the current source."""
        if self.cards:
            self.post_message(self.OpenWanted(self._current))

    def action_copy(self) -> None:
        """Copy the current quote."""
        if self.cards:
            self.post_message(self.CopyWanted(self.cards[self._current].source))

    def action_copy_citation(self) -> None:
        """Copy where the current source stands."""
        if self.cards:
            self.post_message(self.CopyWanted(self.cards[self._current].source, citation=True))

    @staticmethod
    def _titles(evidence: Evidence | None) -> tuple[str, str]:
        if evidence is None:
            return "Sources", ""
        sources, considered = len(evidence.sources), evidence.considered
        title = f"Sources · {sources} of {considered}" if considered else f"Sources · {sources}"
        if evidence.dropped:
            title += f" · {len(evidence.dropped)} did not fit"
        if not evidence.evidential:
            title += " · no evidence"
        origin = f" {evidence.origin}" if evidence.origin else ""
        word = "more" if sources else "candidates"
        more = f" · {considered - sources} {word}: {key_for('chat.inspect')}" if considered > sources else ""
        return title, f"threshold {evidence.threshold:.3f}{origin}{more}"

    @staticmethod
    def _words(evidence: Evidence | None) -> Content:
        if evidence is None:
            return Content.styled("The passages an answer rests on appear here.", "$quiet")
        if not evidence.refused:
            return Content.styled("No sources.", "$quiet")
        if evidence.dropped:
            return Content("Not one source fits the model's window; these were near enough:")
        if evidence.trace is None:
            nearest = evidence.nearest
            return Content.assemble(
                "No source was near enough.\n\n",
                (
                    f"nearest    {nearest:.3f} {closeness_bar(nearest)}\n" if nearest is not None else "",
                    "$quiet",
                ),
                (f"threshold  {evidence.threshold:.3f} {closeness_bar(evidence.threshold)}", "$quiet"),
            )
        if evidence.nearest is None:
            return Content("No source: nothing in the notes resembles the question.")
        return Content.assemble(
            "No source is near enough.\n\n",
            (f"nearest    {evidence.nearest:.3f} {closeness_bar(evidence.nearest)}\n", "$quiet"),
            (f"threshold  {evidence.threshold:.3f} {closeness_bar(evidence.threshold)}\n\n", "$quiet"),
            (key_for("chat.inspect"), "bold $accent"),
            " shows the candidates.",
        )
