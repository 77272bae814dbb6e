"""Every key on one page, those that work where the focus was first; made from the bindings themselves."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import ComposeResult
from textual.binding import ActiveBinding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ragchat.tui import page_keys
from ragchat.tui.keymap import TOPICS, Topic, keys_now
from ragchat.tui.widgets.key_bar import KeyBar

_KEY_CELLS = 12


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
        with VerticalScroll(id="help") as page:
            page.border_title = "Keys that work here"
            page.border_subtitle = "others below · ragchat config keys: give them other keys"
            yield _columns([_block(topic) for topic in self._here])
            yield Static("Elsewhere", classes="elsewhere")
            yield _columns([*(_block(topic) for topic in others), _signs()])
        yield KeyBar()


def _columns(blocks: list[Content]) -> Horizontal:
    """Two columns of about the same height, read downwards."""
    heights = [len(block.plain.splitlines()) + 1 for block in blocks]
    cut = min(range(1, len(blocks) + 1), key=lambda at: abs(sum(heights[:at]) - sum(heights[at:])))
    halves = (blocks[:cut], blocks[cut:])
    return Horizontal(*[Vertical(*[Static(block, classes="topic") for block in half]) for half in halves])


def _block(topic: Topic) -> Content:
    lines = [Content.styled(topic.title, "bold $primary")]
    for binding in topic.actions():
        shown = " ".join(keys_now(binding))
        lines.append(
            Content.assemble(
                (f"  {shown:<{_KEY_CELLS}}", "bold $accent"), binding.tooltip or binding.description
            )
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
    lines += [
        Content.assemble((f"  {sign:<{_KEY_CELLS}}", "bold $accent"), meaning)
        for sign, meaning in signs.items()
    ]
    return Content("\n").join(lines)
