"""Where questions are written: several lines, with the folder's earlier questions behind ↑."""

from __future__ import annotations

from collections.abc import Sequence

from textual.events import Key
from textual.message import Message

from ragchat.tui import keys
from ragchat.tui.widgets.completing import Completing
from ragchat.tui.widgets.prompt_place import prompt_titles

_NEW_LINE = ("shift+enter", "ctrl+enter")
"""Beside ctrl+j, which alone arrives from every terminal; alt+enter is read as it."""


def _is_alt_letter(event: Key) -> bool:
    """alt+x is a key that means nothing here, not an x; the `@` that a layout makes with alt is an @."""
    return event.key.startswith("alt+") and event.key.endswith(f"+{(event.character or '').lower()}")


class Prompt(Completing):
    """Enter asks, ctrl+j makes a new line; a paste of many lines stays one question."""

    BINDINGS = keys.PROMPT

    class Asked(Message):
        """The user asks this."""

        def __init__(self, question: str, *, follows: bool = False) -> None:
            self.question = question
            self.follows = follows
            super().__init__()

    class CopyWanted(Message):
        """Copy this."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="prompt", classes="prompt", compact=True, highlight_cursor_line=False)
        self.border_title, self.border_subtitle = prompt_titles()
        self._history: list[str] = []
        self._at = 0
        self._draft = ""

    def remember(self, questions: Sequence[str]) -> None:
        """Earlier questions, oldest first; each is recalled once."""
        self._history = list(dict.fromkeys(reversed(questions)))[::-1]
        self._at = len(self._history)

    def add_to_history(self, question: str) -> None:
        """The question was asked: it is the latest now."""
        self.remember([*self._history, question])

    def put(self, text: str) -> None:
        """Replace what is written, the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)

    def on_key(self, event: Key) -> None:
        """Ask, new line, each in its turn: a priority binding would overtake letters still on their way."""
        act = {
            **dict.fromkeys((*keys.keys_of("prompt.new_line"), *_NEW_LINE), self.action_new_line),
            **dict.fromkeys(keys.keys_of("prompt.ask"), self.action_ask),
        }.get(event.key)
        act = {"alt+d": self.action_delete_word_right}.get(event.key, act)
        if event.key == "tab" and self.take_completion():
            act = self.update_suggestion
        if act is not None or _is_alt_letter(event):
            event.stop()
            event.prevent_default()
        if act is not None:
            act()

    def action_ask(self) -> None:
        """Hand the question over; what is typed from now on is the next one."""
        self._hand_over(follows=False)

    def action_follow_up(self) -> None:
        """Hand it over as a follow-up of the question before."""
        self._hand_over(follows=True)

    def _hand_over(self, *, follows: bool) -> None:
        if question := self.text.strip():
            self.put("")
            self.post_message(self.Asked(question, follows=follows))

    def give_back(self, question: str) -> None:
        """The question could not be taken: nothing that was typed is lost."""
        self.put("\n".join(filter(None, (question, self.text))))

    def action_copy(self) -> None:
        """Copy what is marked, and say how."""
        if self.selected_text:
            self.post_message(self.CopyWanted(self.selected_text))

    def action_cut(self) -> None:
        """Copy what is marked and take it out; nothing where nothing is marked."""
        if self.selected_text:
            self.action_copy()
            self._delete_via_keyboard(*self.selection)

    def action_new_line(self) -> None:
        """A line break where the cursor is."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_earlier(self) -> None:
        """One line up; on the first line, the question before."""
        if self.cursor_location[0] > 0 or self._at == 0:
            self.action_cursor_up()
            return
        if self._at == len(self._history):
            self._draft = self.text
        self._at -= 1
        self.put(self._history[self._at])
        self.move_cursor((0, len(self.document[0])))

    def action_later(self) -> None:
        """One line down; on the last line, the question after, and at last what was being written."""
        if self.cursor_location[0] < self.document.line_count - 1 or self._at >= len(self._history):
            self.action_cursor_down()
            return
        self._at += 1
        self.put(self._draft if self._at == len(self._history) else self._history[self._at])
