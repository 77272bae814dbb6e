"""What the viewer does with the text in view: find, choose sentences, copy, mark as answer, edit, render."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual.app import SuspendNotSupported
from textual.content import Content

from ragchat.index.scan import note_path
from ragchat.tui.formatting import one_line
from ragchat.tui.screens.finds import FindsWords
from ragchat.tui.widgets.document_view import DocumentView
from ragchat.tui.widgets.find_line import FindLine

if TYPE_CHECKING:
    from ragchat.answering.turn import TurnSource
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session
    from ragchat.tui.widgets.rendered import Rendered

_MARKDOWN = (".md", ".markdown", ".mdown", ".mkd")
_LONGEST_RENDERED = 200_000
"""Characters: each block is a widget, and a second's work for more would stall every key."""


class ActsOnDocument(FindsWords):
    """The part of the viewer that acts on its text.

    is_document: the text is the note as it is now, not a quote of one that is gone.
    """

    session: Session
    question: str

    def __init__(self) -> None:
        super().__init__()
        self.is_document = False
        self._text = ""
        self._cited = self._range = (0, 0)
        self._places = 0
        self._at = 0

    @property
    def source(self) -> TurnSource:
        """The source in view."""
        raise NotImplementedError

    @property
    def view(self) -> DocumentView:
        """The text."""
        return self.query_one(DocumentView)

    @property
    def ragchat(self) -> RagchatApp:
        """The app, by its own type."""
        return cast("RagchatApp", self.app)

    def take_text(self, text: str, start: int, end: int, *, is_document: bool) -> None:
        """What is in view from now on, and the cited range of it."""
        self._text, self.is_document = text, is_document
        self._cited = self._range = (start, end)

    # Find

    @property
    def found_in(self) -> DocumentView | Rendered:
        """The text as it is shown now: what is searched is what one sees."""
        rendered = self.query_children("#rendered")
        return cast("Rendered", rendered.first()) if rendered else self.view

    def take_words(self, words: str) -> None:
        """Mark every place of the words, and go to the first from here on."""
        self.mark_found()
        shown = self.found_in
        self._at = shown.first_found_from_here()
        if self._places:
            self._reveal()
        elif words:
            shown.border_subtitle = Content(f"“{one_line(words, 40)}” is not in this document")
        else:
            shown.border_subtitle = ""

    def mark_found(self) -> None:
        """Mark every place of the words in the text as it is shown now."""
        self._places = self.found_in.find(self.query_one(FindLine).value)

    def action_find_next(self) -> None:
        """The next place."""
        self._step(1)

    def action_find_previous(self) -> None:
        """The place before."""
        self._step(-1)

    def _step(self, steps: int) -> None:
        if not self._places:
            self.action_find()
            return
        self._at = (self._at + steps) % self._places
        self._reveal()

    def _reveal(self) -> None:
        self.found_in.reveal_found(self._at)
        self.found_in.border_subtitle = f"{self._at + 1:,} of {self._places:,}"

    # Choose

    def action_centre(self) -> None:
        """Back to the cited range."""
        self._range = self._cited
        self.view.mark(*self._cited)
        self.found_in.centre()

    def action_next_sentence(self) -> None:
        """Choose the next sentence; the first one of the range at first."""
        start, end = self._range
        whole = self._range == self._cited
        for begin, stop in self._sentences():
            if begin >= (start if whole else end):
                self._choose(begin, stop)
                return

    def action_more_sentences(self) -> None:
        """Choose one sentence more."""
        start, end = self._range
        following = next((stop for begin, stop in self._sentences() if begin >= end), None)
        if following is not None:
            self._choose(start, following)

    def _sentences(self) -> list[tuple[int, int]]:
        """The sentences from the chosen range on, a screenful or more."""
        from ragchat.chunking.sentences import sentence_spans

        start, end = self._range
        return sentence_spans(self._text, start, min(len(self._text), end + 4_000))

    def _choose(self, start: int, end: int) -> None:
        self.keep_rendered()  # sentences are marked in the text
        self._range = start, end
        self.view.mark(start, end)

    # Copy and keep

    def action_copy_quote(self) -> None:
        """The words of the chosen range."""
        start, end = self._range
        what = "the quote" if self._range == self._cited else "what is marked"
        self.ragchat.copy(self._text[start:end], what)

    def action_copy_place(self) -> None:
        """`path:line`, as editors take it."""
        self.ragchat.copy(f"{self.session.folder / self.source.document}:{self._line}", "path:line")

    def action_copy_citation(self) -> None:
        """`DOC#char=A,B` of the chosen range, as it stands in the note now."""
        start, end = self._range
        source = replace(self.source, start=start, end=end) if self.is_document else self.source
        self.ragchat.copy(source.citation, "the citation")

    @property
    def _line(self) -> int:
        """The line of the chosen range now."""
        return self.view.line_of(self._range[0])

    def action_mark_answer(self) -> None:
        """The chosen range answers the question that was asked."""
        if not self.question or not self.is_document:
            reason = "there is no question to it" if self.is_document else "the note is no longer there"
            self.notify(f"This cannot be kept as an answer: {reason}.", severity="warning")
            return
        start, end = self._range
        self.session.collecting.mark_answer(
            self.question, self.source.document, start, end, self._text[start:end]
        )

    def action_take_back(self) -> None:
        """Undo the last mark."""
        self.session.collecting.undo()

    # Edit

    def action_edit(self) -> None:
        """Open the note in the user's editor at the line, and come back to the note as it is then."""
        from ragchat.tui.editor import NoEditor, editor_command, run_editor

        path = note_path(self.session.folder, self.source.document)
        if not path.is_file():
            self.notify("The note is no longer there.", severity="warning")
            return
        try:
            if (line := self._line_of_file(path.read_bytes())) is None:
                self.notify("This is no text file: o opens it in its own program.", severity="warning")
                return
        except OSError as error:
            self.notify(f"The note cannot be read: {error.strerror}.", severity="warning", markup=False)
            return
        try:
            command, at_line = editor_command(path, line)
            with self.app.suspend():
                ended = run_editor(command)
        except NoEditor as error:
            self.notify(str(error)[0].upper() + str(error)[1:], severity="warning", markup=False)
        except (OSError, SuspendNotSupported) as error:
            self.notify(f"The editor could not be run: {error}", severity="error", markup=False)
        else:
            if ended:
                self.notify(f"{command[0]} ended with {ended}.", severity="warning", markup=False)
            elif line and not at_line:
                self.notify(f"{command[0]} opened it at its beginning: line {line}.", markup=False)
            self.session.verify(self.source, self.post_message)

    def _line_of_file(self, content: bytes) -> int | None:
        """The line of the chosen range in the file; 0 where text and file differ, None for no text file."""
        if b"\0" in content[:8192] and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
            return None
        start, end = self._range
        words = self._text[start:end].strip()[:200].encode()
        return self._line if words and words in content else 0

    # Render

    @property
    def can_render(self) -> bool:
        """Whether the note is Markdown and short enough to be drawn as such."""
        is_markdown = self.source.document.lower().endswith(_MARKDOWN)
        return self.is_document and is_markdown and len(self._text) <= _LONGEST_RENDERED

    async def action_render(self) -> None:
        """Show the note rendered, or its text again."""
        from ragchat.tui.widgets.rendered import Rendered

        if not self.can_render:
            self.notify("Only Markdown notes up to 200,000 characters are rendered.", severity="warning")
            return
        if shown := self.query(Rendered):
            await shown.remove()
            self.view.display = True
            self.view.focus()
            self.mark_found()
            return
        rendered = Rendered()
        self.view.display = False
        await self.mount(rendered, after=self.view)
        rendered.focus()
        start, end = self._range
        first = self._text.count("\n", 0, start)
        last = self._text.count("\n", 0, end - 1) if start < end else -1  # of no range, no block
        await rendered.show(self._text, first, last)
        self.mark_found()

    def keep_rendered(self) -> None:
        """Another text is in view: what is rendered of the old one goes."""
        from ragchat.tui.widgets.rendered import Rendered

        for shown in self.query(Rendered):
            shown.remove()
            self.view.display = True
            self.view.focus()
