"""The first start: which folder, whether a model server is there, or the sample; shown once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import page_keys
from ragchat.tui.formatting import folder_name, one_line
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.server import ServerHealth
    from ragchat.tui.app import RagchatApp


class Looked(Message):
    """What was found of the model server."""

    def __init__(self, health: ServerHealth) -> None:
        self.health = health
        super().__init__()


class WelcomeScreen(Dialog[str]):
    """Dismissed with what to do: "choose", "sample", or "here" for the folder one stands in."""

    BINDINGS = page_keys.WELCOME
    CSS_PATH = "../styles/welcome.tcss"
    escape_label = "Skip"

    def __init__(self, here: Path) -> None:
        super().__init__()
        self._here = here

    def compose(self) -> ComposeResult:
        """What it does, the three ways to begin, the model server."""
        with Vertical(id="welcome"):
            yield Static(_title(), id="title")
            ways = OptionList(
                Option(
                    _way("Choose a folder of notes", "Markdown, text, HTML, PDF, office files"), id="choose"
                ),
                Option(_way("Try the sample", "a household's papers, with questions to ask"), id="sample"),
                Option(_way("Open this folder", folder_name(self._here)), id="here"),
            )
            ways.border_title = "Where are your notes?"
            yield ways
            server = Static(Content.styled("◌ looking for Ollama …", "$quiet"), id="server")
            server.border_title = "The model that answers"
            yield server
            yield Static(Content.styled("Nothing is ever written into your notes.", "$quiet"), id="promise")
        yield KeyBar()

    def on_mount(self) -> None:
        """Look for the server behind the screen."""
        self.query_one(OptionList).highlighted = 0
        self.call_after_refresh(self._look)  # as `facts` tells
        self.set_interval(3.0, self._look)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id or "here")

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        self.query_one("#server", Static).update(server_words(message.health))

    def action_back(self) -> None:
        """Skip: the folder one stands in is opened, as it will be from now on."""
        self.dismiss("here")

    def _look(self) -> None:
        app = cast("RagchatApp", self.app)

        def look() -> None:
            self.post_message(Looked(app.look_for_server()))

        self.run_worker(look, thread=True, exclusive=True)


def server_words(health: ServerHealth) -> Content:
    """Whether notes would leave this machine; what was found, with the command to type."""
    if not health.loopback:
        return Content.assemble(
            (f"▲ notes leave this machine: the model server is {one_line(health.host, 80)}", "bold $warning"),
            "\n",
            _found(health),
        )
    return _found(health)


def _found(health: ServerHealth) -> Content:
    from ragchat.answering.choice import SUGGESTED_MODEL

    chatting = [model.name for model in health.models if model.chats]
    if chatting:
        names = ", ".join(chatting[:4]) + (" …" if len(chatting) > 4 else "")
        return Content.assemble(
            ("● Ollama answers", "bold $success"), f" at {one_line(health.host, 60)}\n", one_line(names, 200)
        )
    if health.reachable:
        return Content.assemble(
            ("▲ Ollama answers, but no model is installed", "bold $warning"),
            "\nin another terminal: ",
            (f"ollama pull {SUGGESTED_MODEL}", "bold $accent"),
            ("\nUntil then answers are quotations, word for word.", "$quiet"),
        )
    return Content.assemble(
        (f"○ {one_line(health.problem or 'Ollama does not answer', 200)}", "bold $warning"),
        "\nnext: ",
        (one_line(health.hint, 200), "bold $accent"),
        ("\nWithout it answers are quotations, word for word.", "$quiet"),
    )


def _title() -> Content:
    return Content.assemble(
        ("Welcome to ragchat", "bold $primary"),
        "\nAsk your own notes. Every answer shows where it stands, to the character;\n"
        "what your notes do not hold is refused before any model is asked.",
    )


def _way(does: str, which: str) -> Content:
    return Content.assemble((f"{does:<27}", "bold"), (one_line(which, 200), "$quiet"))
