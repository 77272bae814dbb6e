"""The index: how far it is and how fast, every document by its state, and what to do about each."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from ragchat.index.scan import note_path
from ragchat.tui import page_keys
from ragchat.tui.following import as_ragchat_error
from ragchat.tui.formatting import bar, count, one_line, shown
from ragchat.tui.keys import key_for
from ragchat.tui.messages import IndexRead
from ragchat.tui.pace import duration
from ragchat.tui.screens.finds import FindsWords
from ragchat.tui.shelved import STANDINGS, Shelved, Standing, counted, shelve
from ragchat.tui.widgets.banner import WORDS
from ragchat.tui.widgets.find_line import FindLine
from ragchat.tui.widgets.key_bar import KeyBar
from ragchat.tui.widgets.row_list import RowList
from ragchat.tui.widgets.shelf_list import ShelfList

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragchat.answering.status import FolderStatus
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.session import Session

_EVERY_SECONDS = 0.25


class IndexScreen(FindsWords):
    """Reads the index when it opens, and again whenever indexing has ended."""

    BINDINGS = page_keys.INDEX_PAGE
    CSS_PATH = "../styles/index_view.tcss"

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._status: FolderStatus | None = None
        self._rows: list[Shelved] = []
        self._standing: Standing | None = None
        self._needle = ""
        self._was_indexing = session.indexing
        self._ignored = ""

    def compose(self) -> ComposeResult:
        """Counts and progress, the documents, the one under the cursor, the keys."""
        yield Static(classes="page-head")
        yield ShelfList()
        yield FindLine("words of a name or a reason")
        yield Static(id="document-detail", markup=False)
        yield KeyBar()

    def on_mount(self) -> None:
        """Look now; progress is looked at again and again."""
        self._list.focus()
        self._draw()
        self.call_after_refresh(self._read)  # as `facts` tells
        self.set_interval(_EVERY_SECONDS, self._tick)

    @property
    def _list(self) -> ShelfList:
        return self.query_one(ShelfList)

    @property
    def _ragchat(self) -> RagchatApp:
        return cast("RagchatApp", self.app)

    def _read(self) -> None:
        session = self._session

        def work() -> None:
            try:
                status = session.workspace.status()
                index = session.workspace.index() if session.workspace.has_index() else None
                rows = shelve(status, index.sources() if index is not None else {})
            except Exception as failed:  # noqa: BLE001, RUF100 -- a thread must tell, not die
                self.post_message(IndexRead(session, None, (), as_ragchat_error(failed)))
            else:
                self.post_message(IndexRead(session, status, tuple(rows)))

        session.start(work)

    def _tick(self) -> None:
        if self._session.indexing or self._was_indexing:
            self._head()
        if self._was_indexing and not self._session.indexing:
            self._read()
        self._was_indexing = self._session.indexing

    @on(IndexRead)
    def _index_read(self, message: IndexRead) -> None:
        if (error := message.error) is not None:
            self.notify(f"The index cannot be read: {shown(error.message)}", severity="error", markup=False)
            return
        self._status, self._rows = message.status, list(message.rows)
        self._draw()

    def _draw(self) -> None:
        needle = self._needle.casefold()
        rows = [
            row
            for row in self._rows
            if self._standing in (None, row.standing) and (not needle or row.holds(needle))
        ]
        listed = self._list
        listed.border_title = f"Documents · {self._standing or 'all'}"
        listed.show(rows)
        self._head()
        self._detail()

    def _head(self) -> None:
        status = self._status
        if status is None:
            self.query_one(".page-head", Static).update("◐ reading the index …")
            return
        lines = [
            Content.assemble(
                (counted(self._rows, sum(status.skipped.values())), "bold"),
                (f" · {count(status.chunks, 'passage')}", "$quiet"),
            ),
            self._progress(),
        ]
        if status.threshold is not None:
            story = f": {one_line(status.threshold.detail, 120)}" if status.threshold.detail else ""
            told = f"threshold {status.threshold.value:.3f}, {status.threshold.origin}{story}"
            lines.append(Content.styled(told, "$quiet"))
        if status.notice:
            lines.append(Content.styled(f"▲ {one_line(status.notice, 600)}", "$warning"))
        self.query_one(".page-head", Static).update(Content("\n").join(lines))

    def _progress(self) -> Content:
        pace = self._ragchat.feed.pace
        progress = pace.progress
        if not self._session.indexing or progress is None:
            if self._status is not None and self._status.stale:
                key = key_for("chat.reindex")
                return Content.assemble(("▲ stale", "$warning"), f": {key} on the main screen re-indexes")
            return Content.assemble(("●", "$success"), " up to date; edits are followed while this is open")
        parts: list[str | tuple[str, str]] = [("◐ ", "$accent"), (WORDS[progress.phase], "bold")]
        total = progress.documents_total
        if progress.phase in ("reading", "indexing") and total:
            done = progress.documents_read if progress.phase == "reading" else progress.documents_done
            parts += [f" {done:,} of {total:,} ", (bar(done / total, 16), "$accent")]
        if (rate := pace.rate()) is not None:
            parts.append(f"  {rate.documents:.1f} documents/s")
            if rate.chunks:
                parts.append(f", {rate.chunks:.0f} passages/s")
            if rate.left is not None:
                parts.append((f"  {duration(rate.left)} left", "bold"))
        return Content.assemble(*parts)

    @on(RowList.Moved)
    def _detail(self) -> None:
        current, detail = self._list.current, self.query_one("#document-detail", Static)
        at = self._list.cursor + 1 if current else 0
        self._list.border_subtitle = f"{at:,} of {self._list.count:,}" if self._list.count else ""
        if current is None:
            nothing = "Nothing of that kind." if self._needle or self._standing else "No documents yet."
            detail.update(nothing if self._status is not None else "")
        else:
            name = Content.styled(one_line(current.name, 300), "bold") if current.name else Content("")
            told = f"\n{one_line(current.told, 300)}" if current.name else one_line(current.told, 300)
            hint = f"\n{one_line(current.hint, 300)}" if current.hint else ""
            detail.update(Content.assemble(name, told, (hint, "$quiet")))
        self.refresh_bindings()

    def offers(self, action: str) -> bool:
        """Whether a key has anything to act on now."""
        current = self._list.current
        named = current is not None and bool(current.name)
        match action.removeprefix("screen."):
            case "retry":
                return self._status is not None and bool(self._status.failed)
            case "stop":
                return self._session.indexing
            case "ignore" | "copy" | "open":
                return named
            case "unignore":
                return bool(self._ignored)
            case _:
                return True

    def action_standing(self) -> None:
        """The next state that any document has; then all."""
        there = [standing for standing in STANDINGS if any(row.standing == standing for row in self._rows)]
        order: list[Standing | None] = [None, *there]
        at = order.index(self._standing) if self._standing in order else 0
        self._standing = order[(at + 1) % len(order)]
        self._draw()

    @property
    def found_in(self) -> ShelfList:
        """The documents."""
        return self._list

    def take_words(self, words: str) -> None:
        """List the documents that hold them."""
        self._needle = words
        self._draw()

    def action_retry(self) -> None:
        """Read the failed ones again."""
        if self._session.indexing:
            self.notify("Already indexing.", severity="warning")
        else:
            self._session.index(retry=True)
            self._was_indexing = True

    def action_stop(self) -> None:
        """What was read stays, and what was there before answers on."""
        if self._session.indexing:
            self._session.stop_indexing()
            self.notify("Stopped: what is done stays, and the index of before answers on.")
        else:
            self.notify("Nothing is being indexed.")

    def action_ignore(self) -> None:
        """Pass over the document from now on."""
        current = self._list.current
        if current is None or not current.name:
            self.notify("Only a document can be ignored.", severity="warning")
            return
        from ragchat.index.ignoring import IGNORE_FILE, ignore

        name = current.name

        def work() -> str:
            if not ignore(self._session.folder, name):
                return f"{name} stands in {IGNORE_FILE} already."
            self._ignored = name
            return f"{name} is ignored from now on: a line in {IGNORE_FILE}. u takes it out."

        self._change(work)

    def action_unignore(self) -> None:
        """Take the last line out again."""
        from ragchat.index.ignoring import unignore

        name, self._ignored = self._ignored, ""
        if not name:
            self.notify("Nothing to take back.", severity="warning")
            return

        def work() -> str:
            unignore(self._session.folder, name)
            return f"{name} is read again."

        self._change(work)

    def _change(self, work: Callable[[], str]) -> None:
        from ragchat.errors import RagchatError

        try:
            told = work()
        except RagchatError as error:
            self.notify(f"{shown(error.message)}. {shown(error.hint)}", severity="error", markup=False)
            return
        self.notify(shown(told), markup=False)
        self._session.following.index(following=True)
        self._was_indexing = True

    def action_copy(self) -> None:
        """The document's path."""
        current = self._list.current
        if current is not None and current.name:
            self._ragchat.copy(str(self._session.folder / current.name), "the path")

    @on(RowList.OpenWanted)
    def _open(self) -> None:
        current = self._list.current
        if current is None or not current.name:
            return
        from ragchat.tui.original import open_original

        try:
            self.notify(open_original(note_path(self._session.folder, current.name), ""), markup=False)
        except OSError as error:
            self.notify(f"It cannot be opened: {error.strerror or error}", severity="warning", markup=False)
