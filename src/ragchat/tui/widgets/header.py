"""The top line: the folder and what is known of it, the model, the state of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from textual.content import Content
from textual.reactive import reactive

from ragchat.tui.formatting import count, folder_name, shown
from ragchat.tui.widgets.pressable import PressableLine, pressable


class State(NamedTuple):
    """A word with the glyph that stands for it: never the colour alone."""

    glyph: str
    word: str
    tone: str = "quiet"


class HeaderFacts(NamedTuple):
    """documents, chunks: None while unknown. away: the model server is not this machine.

    Named tuples, because data classes cost the first frame 3 ms.
    """

    folder: Path | None = None
    documents: int | None = None
    chunks: int | None = None
    model: str = ""
    away: bool = False
    server: State = State("◌", "asking the model server")
    indexed: State = State("◌", "opening")


_TONES = {"good": "$success", "busy": "$accent", "bad": "$error", "quiet": "$quiet"}


class Header(PressableLine):
    """One line; what does not fit is left out from the least important on. Each part opens on a click."""

    facts: reactive[HeaderFacts] = reactive(HeaderFacts)

    def tell(self, **changed: Any) -> None:
        """Replace some of the facts."""
        self.facts = self.facts._replace(**changed)

    def render(self) -> Content:
        """The line, fitted to the width there is."""
        width = self.size.width
        brand = Content.styled(" ragchat ", "bold $primary")
        if self.facts.away:  # nothing is more important, so it stands where nothing is left out
            brand = brand + Content.styled("▲ notes leave this machine ", "bold $warning")
        right = [self._model(), self._index()]
        lefts = self._lefts()
        for left in lefts:
            used = brand.cell_length + left.cell_length + sum(part.cell_length for part in right) + 3
            if used <= width:
                break
        else:
            left = Content("")
            room = width - brand.cell_length - sum(part.cell_length for part in right) - 3
            if room >= 6:
                left = lefts[-1].truncate(room, ellipsis=True)
            elif brand.cell_length + right[1].cell_length + 1 <= width:
                right = right[1:] if room < 0 else right
        tail = Content("  ").join(right)
        gap = max(1, width - brand.cell_length - left.cell_length - tail.cell_length - 1)
        return Content.assemble(brand, left, " " * gap, tail).truncate(width, ellipsis=True)

    def _lefts(self) -> list[Content]:
        facts = self.facts
        if facts.folder is None:
            return [Content("no folder")]
        name = Content(" ") + pressable(Content(folder_name(facts.folder)), "screen.switch_folder")
        if facts.documents is None or facts.chunks is None:
            return [name]
        documents = f"{facts.documents:,} doc{'' if facts.documents == 1 else 's'}"
        return [
            name + Content(f" · {documents} · {count(facts.chunks, 'passage')}"),
            name + Content(f" · {documents}"),
            name,
        ]

    def _model(self) -> Content:
        server = self.facts.server
        words = f"{server.glyph} {server.word}"
        text = f"{shown(self.facts.model)} {words}" if self.facts.model else words
        return self._clickable(text, server.tone, "screen.pick_model", len(text) - len(words))

    def _index(self) -> Content:
        index = self.facts.indexed
        return self._clickable(f"index {index.glyph} {index.word}", index.tone, "screen.show_index", 6)

    @staticmethod
    def _clickable(text: str, tone: str, action: str, plain: int) -> Content:
        return pressable(Content(text).stylize(_TONES[tone], plain), action)
