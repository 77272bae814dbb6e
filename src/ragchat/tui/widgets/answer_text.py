"""A model's answer as streamed Markdown in which nothing can be clicked but our own citations.

Imported after the first frame: Markdown is the slowest of Textual's widgets to import.
"""

from __future__ import annotations

from textual.message import Message
from textual.widgets import Markdown

from ragchat.answering.markdown import SOURCE_LINK, answer_parser
from ragchat.tui.widgets.answer_lists import BulletList, OrderedList


class AnswerText(Markdown):
    """Follows the stream while it comes; `settle` draws the finished text once more as a whole."""

    BLOCKS = {  # noqa: RUF012 -- Textual declares it
        **Markdown.BLOCKS,
        "bullet_list_open": BulletList,
        "ordered_list_open": OrderedList,
    }

    class SourceClicked(Message):
        """The user clicked `[n]`."""

        def __init__(self, number: int, answer: AnswerText) -> None:
            self.number = number
            self.answer = answer
            super().__init__()

    def __init__(self, *, sources: int = 0) -> None:
        super().__init__(parser_factory=lambda: answer_parser(self.sources), open_links=False)
        self.sources = sources

    async def settle(self, text: str) -> None:
        """Draw the whole text: an open fence, a half table, a number without a source come right."""
        await self.update(text)
        if self.children:
            self.children[-1].add_class("last")

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Only our own marks arrive here; anything else is text."""
        event.stop()
        number = event.href.removeprefix(SOURCE_LINK)
        if event.href.startswith(SOURCE_LINK) and number.isdecimal():
            self.post_message(self.SourceClicked(int(number), self))
