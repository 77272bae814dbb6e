"""A source in its document, at the range that was cited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ragchat.tui import keys
from ragchat.tui.formatting import one_line, place
from ragchat.tui.messages import DocumentLoaded
from ragchat.tui.widgets.document_view import DocumentView
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.turn import TurnSource
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session


class ViewerScreen(Screen[None]):
    """Shows the document as it was indexed, and says when that no longer holds."""

    BINDINGS = keys.VIEWER
    CSS_PATH = "../styles/viewer.tcss"

    def __init__(self, session: Session, sources: Sequence[TurnSource], position: int) -> None:
        super().__init__()
        self._session = session
        self._sources = sources
        self._position = position
        self._loaded: str | None = None
        self._text: str | None = None

    def compose(self) -> ComposeResult:
        """Where we are, the document, the keys."""
        yield Static(classes="page-head")
        yield DocumentView()
        yield KeyBar()

    def on_mount(self) -> None:
        """Fetch the document."""
        self._open()

    @property
    def source(self) -> TurnSource:
        """The source in view."""
        return self._sources[self._position]

    def _open(self) -> None:
        if self._loaded == self.source.document:
            self._show()
            return
        self._say("◐ opening …")
        self._session.load_document(self.source.document, self.post_message)

    @on(DocumentLoaded)
    def _document_loaded(self, message: DocumentLoaded) -> None:
        if message.name == self.source.document:
            self._loaded, self._text = message.name, message.text
            self.call_after_refresh(self._show)

    def _show(self) -> None:
        source, view, text = self.source, self.query_one(DocumentView), self._text
        if text is None:
            view.show(source.quote, 0, len(source.quote), first_number=source.first_line)
            self._say("✗ no longer in the index: this is the quote as it was shown")
        elif text[source.start : source.end] == source.quote:
            view.show(text, source.start, source.end)
            self._say("✓ exact")
        elif (moved := text.find(source.quote)) >= 0:
            view.show(text, moved, moved + len(source.quote))
            self._say("▲ moved since this answer: marked where it stands now")
        else:
            view.show(text, min(source.start, len(text)), min(source.end, len(text)))
            self._say("▲ changed since this answer: the old range is marked")
        view.focus()

    def _say(self, standing: str) -> None:
        source = self.source
        number = Content.styled(f"[{source.number}] ", "bold $cite") if source.number else Content("")
        section = f" · {one_line(source.section, 200)}" if source.section else ""
        which = f"{self._position + 1} of {len(self._sources)} · " if len(self._sources) > 1 else ""
        self.query_one(".page-head", Static).update(
            Content.assemble(
                number,
                (one_line(source.document, 300), "bold"),
                (section, "$secondary"),
                (f"\n{which}{place(source)} · distance {source.distance:.3f} · ", "$quiet"),
                standing,
            )
        )

    def action_next_source(self) -> None:
        """The next source of this answer."""
        self._go(self._position + 1)

    def action_previous_source(self) -> None:
        """The source before."""
        self._go(self._position - 1)

    def _go(self, position: int) -> None:
        if 0 <= position < len(self._sources):
            self._position = position
            self._open()
        else:
            self.notify("No further source in that direction.")

    def action_centre(self) -> None:
        """Back to the range."""
        self.query_one(DocumentView).centre()

    def action_copy_quote(self) -> None:
        """The cited words."""
        self._ragchat.copy(self.source.quote, "the quote")

    def action_copy_place(self) -> None:
        """`path:line`, as editors take it."""
        path = self._session.folder / self.source.document
        self._ragchat.copy(f"{path}:{self.source.first_line}", "path:line")

    @property
    def _ragchat(self) -> RagchatApp:
        return cast("RagchatApp", self.app)
