"""A source in its document, at the range that was cited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from ragchat.index.scan import note_path
from ragchat.tui import page_keys
from ragchat.tui.formatting import one_line, place, place_name
from ragchat.tui.messages import SpanVerified
from ragchat.tui.screens.viewed import ActsOnDocument
from ragchat.tui.widgets.document_view import DocumentView
from ragchat.tui.widgets.find_line import FindLine
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.turn import TurnSource
    from ragchat.answering.verification import VerifiedSpan
    from ragchat.tui.session import Session


def _distance(source: TurnSource) -> str:
    """Nothing for a document that was opened by its name."""
    return "" if math.isnan(source.distance) else f"distance {source.distance:.3f} · "


class ViewerScreen(ActsOnDocument):
    """Shows the note as it is now, and says whether the cited words still stand there."""

    BINDINGS = page_keys.VIEWER
    CSS_PATH = "../styles/viewer.tcss"

    def __init__(
        self, session: Session, sources: Sequence[TurnSource], position: int, question: str = ""
    ) -> None:
        super().__init__()
        self.session = session
        self.question = question
        self._sources = sources
        self._position = position
        self._span: VerifiedSpan | None = None

    def compose(self) -> ComposeResult:
        """Where we are, the document, a line to find words with, the keys."""
        yield Static(classes="page-head")
        yield DocumentView()
        yield FindLine("find in this document")
        yield KeyBar()

    def on_mount(self) -> None:
        """Read the note."""
        self.query_one(DocumentView).focus()
        self._open()

    @property
    def source(self) -> TurnSource:
        """The source in view."""
        return self._sources[self._position]

    def _open(self) -> None:
        self._say("◐ opening …")
        self.session.verify(self.source, self.post_message)

    @on(SpanVerified)
    def _span_verified(self, message: SpanVerified) -> None:
        if message.source == self.source:
            self._span = message.span
            self.call_after_refresh(self._show)

    def _show(self) -> None:
        source, view, span = self.source, self.view, self._span
        view.border_subtitle = ""
        if span is None or span.standing == "gone":
            self.take_text(source.quote, 0, len(source.quote), is_document=False)
            view.show(source.quote, 0, len(source.quote), first_number=source.first_line)
            self._say("✗ the note is no longer there: this is the quote as it was shown")
        else:
            self.take_text(span.text, span.start, span.end, is_document=True)
            others = self._others(span.text)
            marks = {place.start: place_name(place) for place in span.locators}
            marks |= {start: f"[{number}]" for number, (start, _) in others.items() if number}
            view.show(
                span.text, span.start, span.end, marks=dict(sorted(marks.items())), others=[*others.values()]
            )
            self._say(self._standing(span))
            self.keep_rendered()
        self.mark_found()
        self.refresh_bindings()

    def _standing(self, span: VerifiedSpan) -> str | Content:
        match span.standing:
            case "moved":
                return "▲ moved since this answer: marked where it stands now"
            case "changed":
                return Content.assemble(
                    "▲ changed since this answer: marked is what stands there now; it was ",
                    (f"“{one_line(self.source.quote, 300)}”", "$quiet"),
                )
            case _:
                return "✓ exact"

    def _others(self, text: str) -> dict[int, tuple[int, int]]:
        """Where the other sources of this document stand in it now, by their numbers."""
        from ragchat.answering.verification import locate

        ranges = {}
        for at, source in enumerate(self._sources):
            if at != self._position and source.document == self.source.document:
                found = locate(source.quote, source.start, source.end, text, text)
                if found.standing in ("exact", "moved"):
                    ranges[source.number or -at] = (found.start, found.end)
        return ranges

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
                (f"\n{which}{place(source)} · {_distance(source)}", "$quiet"),
                standing,
            )
        )

    def offers(self, action: str) -> bool:
        """Whether a key has anything to act on now."""
        match action:
            case "screen.previous_source":
                return len(self._sources) > 1
            case "mark_answer" | "take_back":
                return bool(self.question) and self.is_document
            case "render":
                return self.can_render
            case _:
                return True

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

    def action_facts(self) -> None:
        """The document as a file, and what the index has of it."""
        from ragchat.tui.screens.facts import FactsScreen

        self.app.push_screen(FactsScreen(self.session, self.source.document))

    def action_open_original(self) -> None:
        """The file itself, in the system's viewer."""
        from ragchat.tui.original import open_original

        path = note_path(self.session.folder, self.source.document)
        try:
            self.notify(open_original(path, self.source.locator), markup=False)
        except OSError as error:
            self.notify(f"It cannot be opened: {error.strerror or error}", severity="warning", markup=False)
