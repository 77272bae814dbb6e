"""A card with the facts of one document: its file, how it was read, what the index has of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ragchat.errors import RagchatError
from ragchat.tui import page_keys
from ragchat.tui.following import as_ragchat_error
from ragchat.tui.formatting import count, one_line
from ragchat.tui.screens.dialog import Dialog
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.facts import DocumentFacts
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session

_GLYPHS = {"as indexed": ("✓", "$success"), "no longer there": ("✗", "$error")}
_LABEL = 11


class FactsScreen(Dialog[None]):
    """Read in a thread: whether the file is as it was indexed takes reading it."""

    BINDINGS = page_keys.FACTS
    CSS_PATH = "../styles/dialog.tcss"

    class Read(Message):
        """The facts, or why there are none."""

        def __init__(self, facts: DocumentFacts | RagchatError) -> None:
            self.facts = facts
            super().__init__()

    def __init__(self, session: Session, document: str) -> None:
        super().__init__()
        self._session = session
        self._document = document

    def compose(self) -> ComposeResult:
        """The facts and the keys."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(one_line(self._document, 60))
            yield Static("◐ reading …", classes="body")
            yield KeyBar()

    def on_mount(self) -> None:
        """Look the facts up."""
        session, document = self._session, self._document

        def work() -> None:
            from ragchat.answering.facts import read_facts

            found: DocumentFacts | RagchatError
            try:
                workspace = session.workspace
                found = read_facts(session.folder, workspace.settings.notes, workspace.index(), document)
            except Exception as error:  # noqa: BLE001, RUF100 -- a thread must tell, not die
                found = as_ragchat_error(error)
            with suppress(RuntimeError):  # the screen has gone
                self.post_message(self.Read(found))

        # Told between the first layout and the first drawing, the words would keep the height of “reading”:
        # Textual measures a widget anew only when a layout was asked for that it does not owe already.
        self.call_after_refresh(session.start, work)

    @on(Read)
    def _read(self, message: Read) -> None:
        facts = message.facts
        if isinstance(facts, RagchatError):
            words = Content.assemble(("✗ ", "$error"), one_line(facts.message))
        else:
            words = Content("\n").join(
                Content.assemble((f"{label:<{_LABEL}}", "$quiet"), told) for label, told in _rows(facts)
            )
        self.query_one(".body", Static).update(words)

    def action_copy(self) -> None:
        """The whole path."""
        path = str(self._session.folder / self._document)
        cast("RagchatApp", self.app).copy(path, "the path")


def _rows(facts: DocumentFacts) -> Iterator[tuple[str, Content]]:
    yield "path", Content(one_line(str(facts.path)))
    glyph, style = _GLYPHS.get(facts.state, ("▲", "$warning"))
    yield "state", Content.assemble((f"{glyph} ", style), facts.state)
    if facts.size is not None:
        yield "size", Content(count(facts.size, "byte"))
    if facts.modified is not None:
        yield "modified", Content(_time(facts.modified))
    yield "kind", Content(facts.kind or "no reader for it")
    if facts.encoding:
        yield "encoding", Content(facts.encoding)
    if facts.places:
        yield "parts", Content(", ".join(_places(kind, number) for kind, number in facts.places.items()))
    sections = f" in {count(facts.sections, 'section')}" if facts.sections else ""
    yield "passages", Content(f"{facts.passages:,}{sections}")
    if facts.read_at is not None:
        yield "read", Content(f"{_time(facts.read_at)} by the index")
    if facts.day:
        yield "day", Content(one_line(facts.day, 20))
    if facts.tags:
        yield "tags", Content(one_line(", ".join(facts.tags), 200))
    if facts.gaps:
        yield "not read", Content.styled(one_line("; ".join(facts.gaps), 300), "$warning")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _places(kind: str, number: int) -> str:
    return count(number, {"t": "caption", "sheet": "row"}.get(kind, kind))
