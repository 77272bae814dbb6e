"""A Markdown note as it is meant to look, with the blocks of the cited range marked."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.widgets import Markdown
from textual.widgets.markdown import MarkdownBlock

from ragchat.answering.markdown import answer_parser
from ragchat.tui import page_keys
from ragchat.tui.formatting import shown

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)


class Rendered(VerticalScroll, can_focus=True):
    """Links, images and HTML of a note stay text, as in an answer."""

    BINDINGS: ClassVar[list[BindingType]] = page_keys.DOCUMENT

    def __init__(self) -> None:
        super().__init__(id="rendered")

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
        if marked:
            self.call_after_refresh(self.scroll_to_widget, marked[0], animate=False, center=True)


def _without_front_matter(text: str) -> str:
    """Front matter as a code block, which keeps its lines; Markdown would take it for a heading."""
    return _FRONT_MATTER.sub(lambda match: f"```yaml\n{match[1]}```", text)
