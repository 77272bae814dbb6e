"""Every key on one page, those that work where the focus was first; made from the bindings themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.events import Key
from textual.screen import Screen
from textual.widgets import Input, Static

from ragchat.tui import page_keys
from ragchat.tui.keymap import TOPICS, Topic, keys_now
from ragchat.tui.widgets.key_bar import KeyBar

_KEY_CELLS = 10
_SIGNS = {
    "[1]": "a source: click it, or alt+1",
    "[7]✗": "the model named a source there is not",
    "● ▲ ○": "fine · look here · not there",
    "◐ ■": "working · stopped by you",
    "0.31": "cosine distance: 0 the same, 1 unrelated",
}


class TopicBlock(Static):
    """A heading and its rows, of which those stand there that hold the words typed."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"topic--title", "topic--key"}

    def __init__(self, title: str, rows: Callable[[], Iterable[tuple[str, str]]]) -> None:
        super().__init__(classes="topic")
        self._title = title
        self._rows = rows
        self._shown = list(rows())

    @property
    def height(self) -> int:
        """In lines, if none is wrapped."""
        return len(self._shown) + 2

    def seek(self, words: list[str]) -> int:
        """Show the rows that hold all of the words (casefolded); how many there are."""
        self._shown = [row for row in self._rows() if _holds(f"{self._title} {row[0]} {row[1]}", words)]
        self.display = bool(self._shown)
        self.refresh(layout=True)
        return len(self._shown)

    def render(self) -> Table:
        """A column of keys, a column of words."""
        table = Table.grid(padding=(0, 1), expand=True)
        table.title, table.title_justify = self._title, "left"
        table.title_style = self.get_component_rich_style("topic--title", partial=True)
        table.add_column(width=_KEY_CELLS, style=self.get_component_rich_style("topic--key", partial=True))
        table.add_column(ratio=1)
        for keys, does in self._shown:
            table.add_row(Text(keys), Text(does))
        return table


class HelpScreen(Screen[None]):
    """Keys by where they work. active: the bindings of where one comes from."""

    BINDINGS = page_keys.HELP
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012 -- Textual declares it
    CSS_PATH = "../styles/pages.tcss"

    def __init__(self, active: Iterable[ActiveBinding]) -> None:
        super().__init__()
        places = [(each.binding.id or "").partition(".")[0] for each in active]
        self._here = [topic for topic in TOPICS if topic.place in places]
        self._here.sort(key=lambda topic: (topic.place in ("chat", "app", "move"), places.index(topic.place)))

    def compose(self) -> ComposeResult:
        """What works here; below it the rest. Two columns where there is room."""
        others = [topic for topic in TOPICS if topic not in self._here]
        yield Input(placeholder="type to find a key or what it does", compact=True, id="sought")
        with VerticalScroll(id="help", can_focus=False) as page:
            page.border_title = "Keys that work here"
            page.border_subtitle = "others below"
            yield _columns([_block(topic) for topic in self._here])
            yield Static("Elsewhere", classes="elsewhere")
            yield _columns([*map(_block, others), TopicBlock("What the signs mean", _SIGNS.items)])
        yield KeyBar()

    def on_key(self, event: Key) -> None:
        """The page scrolls while one types."""
        page = self.query_one("#help", VerticalScroll)
        scroll = {
            "up": page.scroll_up,
            "down": page.scroll_down,
            "pageup": page.scroll_page_up,
            "pagedown": page.scroll_page_down,
        }.get(event.key)
        if scroll is not None:
            event.stop()
            scroll(animate=False)

    def on_screen_resume(self) -> None:
        """Keys may have been changed meanwhile."""
        self._seek()

    @on(Input.Changed)
    def _seek(self) -> None:
        words = self.query_one(Input).value.casefold().split()
        found = sum(block.seek(words) for block in self.query(TopicBlock))
        elsewhere = self.query(Horizontal).last()
        self.query_one(".elsewhere").display = any(block.display for block in elsewhere.query(TopicBlock))
        page = self.query_one("#help", VerticalScroll)
        page.border_subtitle = ("others below" if not words else f"{found} found") if found else "none found"
        page.scroll_home(animate=False)

    def action_change_keys(self) -> None:
        """Give them other keys."""
        from ragchat.tui.screens.remap import RemapScreen

        self.app.push_screen(RemapScreen(self.query_one(Input).value))


def _holds(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


def _block(topic: Topic) -> TopicBlock:
    return TopicBlock(topic.title, partial(_rows, topic))


def _rows(topic: Topic) -> Iterator[tuple[str, str]]:
    for binding in topic.actions():
        yield " ".join(keys_now(binding)), binding.tooltip or binding.description


def _columns(blocks: list[TopicBlock]) -> Horizontal:
    """Two columns of about the same height, read downwards."""
    heights = [block.height for block in blocks]
    cut = min(range(1, len(blocks) + 1), key=lambda at: abs(sum(heights[:at]) - sum(heights[at:])))
    return Horizontal(*[Vertical(*blocks[start:end]) for start, end in pairwise((0, cut, len(blocks)))])
