"""An editor that shows how a filter that is being typed may go on, `in:ho` → `in:house/`; tab takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message
from textual.widgets import TextArea

if TYPE_CHECKING:
    from ragchat.answering.suggestions import FilterNames


class Completing(TextArea):
    """Names are asked for when a filter is first typed: reading them costs nothing before."""

    class NamesWanted(Message):
        """A filter is being typed, and what it can name is not known."""

    _names: FilterNames | None = None
    _asked = False
    _completion = ""

    def offer(self, names: FilterNames | None) -> None:
        """What filters can name from now on; None: they have changed, and are asked for again."""
        self._names = names
        self._asked = names is not None
        self.update_suggestion()

    def update_suggestion(self) -> None:
        """Called by the editor when text or cursor have moved."""
        self._completion, self.suggestion = "", ""
        row, column = self.cursor_location
        line = self.document[row]
        if ":" not in line[:column] or line[column:].strip():
            return
        if self._names is None:
            if not self._asked:
                self._asked = True
                self.post_message(self.NamesWanted())
            return
        from ragchat.answering.suggestions import completions, typed_filter

        found = completions(self._names, line[:column])
        if not found:
            return
        typed = typed_filter(line[:column])
        self._completion = found[0]
        goes_on = found[0].casefold().startswith(typed.casefold())
        self.suggestion = found[0][len(typed) :] if goes_on else f" → {found[0]}"

    def take_completion(self) -> bool:
        """Put it in place of what was typed of it; False where none is shown."""
        if not self._completion:
            return False
        from ragchat.answering.suggestions import typed_filter

        row, column = self.cursor_location
        start = column - len(typed_filter(self.document[row][:column]))
        more = "" if self._completion.endswith("/") else " "
        self._replace_via_keyboard(f"{self._completion}{more}", (row, start), (row, column))
        return True

    def action_cursor_right(self, select: bool = False) -> None:
        """At the end of a line, take the completion."""
        if select or not self.take_completion():
            super().action_cursor_right(select)
