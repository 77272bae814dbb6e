"""The exact prompt: what a model was sent, or would be sent under the inspector's line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ragchat.answering.request import would_be_sent
from ragchat.tui import page_keys
from ragchat.tui.formatting import count, one_line, shown
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.events import Answer
    from ragchat.settings import OllamaSettings
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.inspection import Inspection

_WHO = {"system": "System", "user": "User"}


class PromptPage(Screen[None]):
    """Every message word for word; control characters are written out, as they are in what is sent."""

    BINDINGS = page_keys.PROMPT_PAGE
    CSS_PATH = "../styles/inspector.tcss"

    def __init__(self, inspection: Inspection, answer: Answer | None, settings: OllamaSettings) -> None:
        super().__init__()
        self._standing, self._messages = _prompt(inspection, answer, settings)

    def compose(self) -> ComposeResult:
        """What it is, its messages, the keys."""
        size = sum(len(message["content"]) for message in self._messages)
        told = f" · {count(len(self._messages), 'message')}, {count(size, 'character')}" if size else ""
        yield Static(Content.assemble((self._standing, "bold"), (told, "$quiet")), classes="page-head")
        with VerticalScroll(id="prompt-text") as page:
            page.border_title = "Prompt"
            if not self._messages:
                yield Static("Nothing: without evidence no model is asked.", classes="prompt-words")
            for message in self._messages:
                yield Static(_WHO.get(message["role"], one_line(message["role"], 20)), classes="prompt-role")
                yield Static(Content(shown(message["content"])), classes="prompt-words")
        yield KeyBar()

    def on_mount(self) -> None:
        """Keys scroll at once."""
        self.query_one("#prompt-text").focus()

    def offers(self, action: str) -> bool:
        """Nothing to copy where nothing is sent."""
        return bool(self._messages) or action != "copy"

    def action_copy(self) -> None:
        """The messages, one after the other."""
        if not self._messages:
            self.notify("There is no prompt: nothing would be sent.", severity="warning")
            return
        text = "\n\n".join(message["content"] for message in self._messages)
        cast("RagchatApp", self.app).copy(text, "the prompt")


def _prompt(
    inspection: Inspection, answer: Answer | None, settings: OllamaSettings
) -> tuple[str, Sequence[Mapping[str, str]]]:
    """What the prompt is, in a few words, and its messages."""
    trace = inspection.moved_trace()
    if not inspection.is_moved and answer is not None and answer.prompt:
        return f"Sent to {shown(answer.model or 'the model')}", answer.prompt
    if trace.refused:
        return ("Nothing would be sent" if inspection.is_moved else "Nothing was sent"), ()
    line = f" with the line at {inspection.value:.3f}" if inspection.is_moved else ""
    return f"Would be sent{line}", would_be_sent(trace, settings).messages
