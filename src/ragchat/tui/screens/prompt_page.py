"""The exact prompt: every request that a model was sent, or would be sent under the inspector's line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    from ragchat.answering.events import Answer, SentRequest
    from ragchat.settings import Settings
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.inspection import Inspection

_WHO = {"system": "System", "user": "User"}
_OLLAMA = "ollama:"
_Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _Sending:
    """standing: what the page shows, in a few words. requests: what was sent; () for what only would be.

    messages: of each request, or of the one that would be sent.
    """

    standing: str
    requests: Sequence[SentRequest]
    messages: Sequence[_Messages]


class PromptPage(Screen[None]):
    """Every message word for word; control characters are written out, as they are in what is sent."""

    BINDINGS = page_keys.PROMPT_PAGE
    CSS_PATH = "../styles/inspector.tcss"

    def __init__(self, inspection: Inspection, answer: Answer | None, settings: Settings) -> None:
        super().__init__()
        self._sending = _sending(inspection, answer, settings)
        self._embedder = settings.embedding.model

    def compose(self) -> ComposeResult:
        """What it is, the requests, their messages, the keys."""
        messages = [message for each in self._sending.messages for message in each]
        size = sum(len(message["content"]) for message in messages)
        told = f" · {count(len(messages), 'message')}, {count(size, 'character')}" if size else ""
        head = Content.assemble((self._sending.standing, "bold"), (told, "$quiet"))
        yield Static(head, classes="page-head")
        with VerticalScroll(id="prompt-text") as page:
            page.border_title = "Prompt"
            yield Static("Requests", classes="prompt-role")
            yield Static(Content("\n").join(self._requests()), classes="prompt-words")
            for at, each in enumerate(self._sending.messages, start=1):
                of_it = f" of request {at}" if len(self._sending.messages) > 1 else ""
                for message in each:
                    who = _WHO.get(message["role"], one_line(message["role"], 20))
                    yield Static(f"{who}{of_it}", classes="prompt-role")
                    yield Static(Content(shown(message["content"])), classes="prompt-words")
        yield KeyBar()

    def _requests(self) -> Iterator[Content]:
        """One line for the search, one for each request to a model."""
        if self._embedder.startswith(_OLLAMA):
            name = one_line(self._embedder.removeprefix(_OLLAMA), 80)
            yield Content(f"embedding: the question's words to {name} (/api/embed), at that server")
        else:
            yield Content("embedding: none, the question was embedded in this process")
        if not self._sending.requests:
            yield Content(
                "answer: none was sent; this is what would be"
                if self._sending.messages
                else "answer: none, without evidence no model is asked"
            )
        for at, request in enumerate(self._sending.requests, start=1):
            options = " · ".join(f"{name} {_number(value)}" for name, value in request.options.items())
            think = "" if request.think is None else f" · think {'on' if request.think else 'off'}"
            yield Content.assemble(
                f"{at}  POST {one_line(request.address, 120)} · {one_line(request.model, 80)} · ",
                (one_line(request.outcome, 200), "bold"),
                (f"\n   {options}{think}", "$quiet"),
            )

    def on_mount(self) -> None:
        """Keys scroll at once."""
        self.query_one("#prompt-text").focus()

    def offers(self, action: str) -> bool:
        """Nothing to copy where nothing is sent."""
        return bool(self._sending.messages) or action != "copy"

    def action_copy(self) -> None:
        """The messages, one after the other."""
        if not self._sending.messages:
            self.notify("There is no prompt: nothing would be sent.", severity="warning")
            return
        text = "\n\n".join(message["content"] for each in self._sending.messages for message in each)
        cast("RagchatApp", self.app).copy(text, "the prompt")


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _sending(inspection: Inspection, answer: Answer | None, settings: Settings) -> _Sending:
    trace = inspection.moved_trace()
    if not inspection.is_moved and answer is not None and answer.requests:
        requests = answer.requests
        standing = f"Sent to {shown(requests[-1].model)}"
        if len(requests) > 1:
            standing += f" in {len(requests)} requests"
        return _Sending(standing, requests, [request.messages for request in requests])
    if trace.refused:
        return _Sending("Nothing would be sent" if inspection.is_moved else "Nothing was sent", (), ())
    line = f" with the line at {inspection.value:.3f}" if inspection.is_moved else ""
    return _Sending(f"Would be sent{line}", (), [would_be_sent(trace, settings.ollama).messages])
