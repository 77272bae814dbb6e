"""The lists of an answer, one widget an item.

Textual's own take four widgets an item (two containers, the bullet, the words) and are mounted anew with
every piece of a stream. Each widget on the screen is laid out and painted whenever the answer grows by a
line, and a key waits for that.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Markdown
from textual.widgets._markdown import (
    MarkdownBullet,
    MarkdownBulletList,
    MarkdownListItem,
    MarkdownParagraph,
)
from textual.widgets.markdown import MarkdownBlock


class ListItem(MarkdownParagraph):
    """The words of an item, behind its bullet or number."""

    DEFAULT_CSS = """
    ListItem > .list-item--symbol {
        color: $text-primary;
    }
    ListItem:light > .list-item--symbol {
        color: $text-secondary;
    }
    """
    COMPONENT_CLASSES = {"list-item--symbol"}  # noqa: RUF012 -- Textual declares it

    def __init__(self, markdown: Markdown, symbol: str, words: MarkdownBlock) -> None:
        super().__init__(markdown, words._token)
        self.symbol = ""
        self.follow(symbol, words)

    def follow(self, symbol: str, words: MarkdownBlock) -> None:
        """Show these words; what is the same is not drawn again."""
        if symbol != self.symbol:
            self.symbol = symbol
            self.styles.padding = (0, 0, 0, len(symbol))
        content = words._content
        if content.plain != self._content.plain or content.spans != self._content.spans:
            self.set_content(content)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The symbol stands in the padding of the first line."""
        strips = super().render_lines(crop)
        if strips and crop.y == 0 and crop.x == 0:
            # None are left of a widget that is being removed and is painted once more.
            style = self.get_component_rich_style("list-item--symbol", default=Style.null())
            rest = strips[0].crop(len(self.symbol), None)
            strips[0] = Strip.join([Strip([Segment(self.symbol, style)]), rest])
        return strips

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The symbol is copied where the words are from their beginning on."""
        chosen = super().get_selection(selection)
        if chosen is None or selection.start is not None:
            return chosen
        return self.symbol + chosen[0], chosen[1]


def _widgets_of(item: MarkdownListItem, symbol: str, markdown: Markdown) -> Iterator[Widget]:
    parts = list(item._blocks)
    if parts and not isinstance(parts[0], MarkdownParagraph):  # code, a heading: as Textual has it
        bullet = MarkdownBullet()
        bullet.symbol = symbol
        yield Horizontal(bullet, Vertical(*parts))
        return
    yield ListItem(markdown, symbol, parts.pop(0) if parts else item)
    if parts:
        below = Vertical(*parts)
        below.styles.padding = (0, 0, 0, len(symbol))
        yield below


class BulletList(MarkdownBulletList):
    """An unordered list, which grows in place while the stream brings more of it."""

    def items(self) -> list[Widget]:
        """A widget for each item, and one for what stands below its first paragraph. They are made once."""
        items = [block for block in self._blocks if isinstance(block, MarkdownListItem)]
        self._blocks.clear()
        symbols = self.symbols(items)
        return [
            widget
            for item, symbol in zip(items, symbols, strict=True)
            for widget in _widgets_of(item, symbol, self._markdown)
        ]

    def symbols(self, items: list[MarkdownListItem]) -> list[str]:
        """What stands before each item: a bullet, by how deep the list lies in others."""
        return [item.bullet for item in items]

    def compose(self) -> ComposeResult:
        """All items."""
        yield from self.items()

    def get_selection(self, _selection: Selection) -> None:
        """Nothing of its own: the items are copied."""
        return

    async def _update_from_block(self, block: MarkdownBlock) -> None:
        if type(block) is not type(self):
            await super()._update_from_block(block)
            return
        self._copy_context(block)
        shown, wanted = list(self.children), block.items()
        same = 0
        for old, new in zip(shown, wanted, strict=False):
            if not isinstance(old, ListItem) or not isinstance(new, ListItem):
                break
            old.follow(new.symbol, new)
            same += 1
        if shown[same:]:
            await self.remove_children(shown[same:])
        if wanted[same:]:
            await self.mount_all(wanted[same:])


class OrderedList(BulletList):
    """An ordered list."""

    def symbols(self, items: list[MarkdownListItem]) -> list[str]:
        """Counted from the first item's number, all equally wide."""
        first = items[0].bullet if items else "1"
        start = int(first) if first.isdecimal() else 1
        width = len(f"{start + len(items) - 1}. ") + 1
        return [f"{number}. ".rjust(width) for number in range(start, start + len(items))]
