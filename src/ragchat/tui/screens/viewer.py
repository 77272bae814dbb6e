"""A source in its document, at the range that was cited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ragchat.index.scan import note_path
from ragchat.tui import keys
from ragchat.tui.formatting import one_line, place, place_name
from ragchat.tui.messages import SpanVerified
from ragchat.tui.widgets.document_view import DocumentView
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.turn import TurnSource
    from ragchat.answering.verification import VerifiedSpan
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session


class ViewerScreen(Screen[None]):
    """Shows the note as it is now, and says whether the cited words still stand there."""

    BINDINGS = keys.VIEWER
    CSS_PATH = "../styles/viewer.tcss"

    def __init__(self, session: Session, sources: Sequence[TurnSource], position: int) -> None:
        super().__init__()
        self._session = session
        self._sources = sources
        self._position = position
        self._span: VerifiedSpan | None = None

    def compose(self) -> ComposeResult:
        """Where we are, the document, the keys."""
        yield Static(classes="page-head")
        yield DocumentView()
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the note."""
        self._open()

    @property
    def source(self) -> TurnSource:
        """The source in view."""
        return self._sources[self._position]

    def _open(self) -> None:
        self._say("◐ opening …")
        self._session.verify(self.source, self.post_message)

    @on(SpanVerified)
    def _span_verified(self, message: SpanVerified) -> None:
        if message.source == self.source:
            self._span = message.span
            self.call_after_refresh(self._show)

    def _show(self) -> None:
        source, view, span = self.source, self.query_one(DocumentView), self._span
        if span is None or span.standing == "gone":
            view.show(source.quote, 0, len(source.quote), first_number=source.first_line)
            self._say("✗ the note is no longer there: this is the quote as it was shown")
        else:
            marks = {place.start: place_name(place) for place in span.locators}
            view.show(span.text, span.start, span.end, marks=marks)
            match span.standing:
                case "exact":
                    self._say("✓ exact")
                case "moved":
                    self._say("▲ moved since this answer: marked where it stands now")
                case "changed":
                    self._say(
                        Content.assemble(
                            "▲ changed since this answer: marked is what stands there now; it was ",
                            (f"“{one_line(source.quote, 300)}”", "$quiet"),
                        )
                    )
        view.focus()

    def _say(self, standing: str | Content) -> None:
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

    def action_open_original(self) -> None:
        """The file itself, in the system's viewer."""
        from ragchat.tui.original import open_original

        path = note_path(self._session.folder, self.source.document)
        try:
            self.notify(open_original(path, self.source.locator))
        except OSError as error:
            self.notify(f"It cannot be opened: {error.strerror or error}", severity="warning")

    @property
    def _ragchat(self) -> RagchatApp:
        return cast("RagchatApp", self.app)
