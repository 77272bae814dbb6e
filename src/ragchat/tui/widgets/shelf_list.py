"""The documents of the index view: state, name, why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.binding import BindingType

from ragchat.tui import page_keys
from ragchat.tui.formatting import one_line
from ragchat.tui.shelved import GLYPHS, Shelved
from ragchat.tui.widgets.row_list import RowList

_STATE = 11
_NAME_SHARE = 0.75
"""Of the line, at most: what stands behind a name stands below the list too."""


class ShelfList(RowList):
    """One line a document."""

    BINDINGS: ClassVar[list[BindingType]] = page_keys.INDEX

    def __init__(self) -> None:
        super().__init__("shelf")
        self._rows: Sequence[Shelved] = ()
        self._longest = 0

    def show(self, rows: Sequence[Shelved]) -> None:
        """Other rows; the cursor stays on its document."""
        under = self.current
        self._rows = rows
        self._longest = max((cell_len(one_line(row.name, 300)) for row in rows), default=0)
        if under is not None and under in rows:
            self.cursor = rows.index(under)
        self.renew()

    @property
    def count(self) -> int:
        """How many are listed."""
        return len(self._rows)

    @property
    def current(self) -> Shelved | None:
        """What stands under the cursor."""
        return self._rows[self.cursor] if self.cursor < len(self._rows) else None

    def row(self, at: int, base: Style) -> list[Segment]:
        """State, name and why."""
        each = self._rows[at]
        quiet = self.part("rows--quiet", base)
        troubled = self.part("rows--line", base) if each.standing in ("failed", "in part", "stale") else quiet
        state = Segment(f"{GLYPHS[each.standing]} {each.standing:<{_STATE - 2}} ", troubled)
        if not each.name:
            return [state, Segment(one_line(each.told, 300), base)]
        width = min(self._longest, int((self.width - _STATE - 2) * _NAME_SHARE))
        name = set_cell_size(one_line(each.name, 300), width)
        return [state, Segment(name, base), Segment(f"  {one_line(each.told, 300)}", quiet)]
