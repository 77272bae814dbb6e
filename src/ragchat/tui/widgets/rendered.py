"""A Markdown note as it is meant to look, the blocks of the cited range marked, and words that are found."""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Markdown, Static
from textual.widgets.markdown import MarkdownBlock

from ragchat.answering.markdown import answer_parser
from ragchat.tui import page_keys
from ragchat.tui.finding import places_of
from ragchat.tui.formatting import shown
from ragchat.tui.widgets.keeps_place import row_of

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_FOUND = "$background on $accent"


class _Place(NamedTuple):
    """Words found in what one widget shows: from which character, of how many."""

    words: Static
    start: int
    length: int


class Rendered(VerticalScroll, can_focus=True):
    """Links, images and HTML of a note stay text, as in an answer."""

    BINDINGS: ClassVar[list[BindingType]] = page_keys.DOCUMENT

    def __init__(self) -> None:
        super().__init__(id="rendered")
        self._places: list[_Place] = []
        self._unmarked: dict[Static, Content] = {}

    def compose(self) -> ComposeResult:
        """The note."""
        yield Markdown(parser_factory=answer_parser, open_links=False)

    async def show(self, text: str, first: int, last: int) -> None:
        """The text; its lines first to last, from 0, are marked and brought into view."""
        markdown = self.query_one(Markdown)
        await markdown.update(_without_front_matter(shown(text)))
        marked = [
            block
            for block in markdown.children
            if isinstance(block, MarkdownBlock)
            and block.source_range[0] <= last
            and block.source_range[1] > first
        ]
        for block in marked:
            block.add_class("cited")
        self.call_after_refresh(self.centre)

    def centre(self) -> None:
        """Bring the marked blocks into view."""
        if cited := self.query_one(Markdown).query_children(".cited"):
            self.scroll_to_widget(cited.first(), animate=False, center=True)

    def find(self, words: str) -> int:
        """Mark every place of the words as they are shown, without Markdown's signs; how many there are."""
        for static, unmarked in self._unmarked.items():
            static.update(unmarked, layout=False)
        self._unmarked.clear()
        self._places.clear()
        for static in self.query_one(Markdown).query(Static):
            content = static.content
            if not isinstance(content, Content) or not (found := places_of(words, content.plain)):
                continue
            self._unmarked[static] = content
            marked = content
            for start, end in found:
                marked = marked.stylize(_FOUND, start, end)
                self._places.append(_Place(static, start, len(content)))
            static.update(marked, layout=False)
        return len(self._places)

    def first_found_from_here(self) -> int:
        """Which of the places is the first at or below the top of the view."""
        top = self.scroll_offset.y
        return next((at for at, place in enumerate(self._places) if self._row(place) >= top), 0)

    def reveal_found(self, at: int) -> None:
        """Bring one of the places to the middle."""
        row = self._row(self._places[at]) - self.size.height // 2
        self.scroll_to(y=max(0, row), animate=False, force=True)

    def _row(self, place: _Place) -> int:
        """About the row where it stands: lines are wrapped about evenly."""
        inside = place.words.size.height * place.start // max(1, place.length)
        return row_of(place.words, self) + inside


def _without_front_matter(text: str) -> str:
    """Front matter as a code block, which keeps its lines; Markdown would take it for a heading."""
    return _FRONT_MATTER.sub(lambda match: f"```yaml\n{match[1]}```", text)
