"""Documents that could not be read: which, why, and what to do about each."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.app import ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ragchat.tui import keys
from ragchat.tui.formatting import count, one_line
from ragchat.tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from ragchat.answering.status import FolderStatus
    from ragchat.documents.document import FailedDocument
    from ragchat.tui.app import RagchatApp


class FailuresScreen(Screen[None]):
    """What is indexed, what failed, what is skipped, and why."""

    BINDINGS = keys.FAILURES
    CSS_PATH = "../styles/pages.tcss"

    def __init__(self, status: FolderStatus) -> None:
        super().__init__()
        self._status = status

    def compose(self) -> ComposeResult:
        """A summary, the failed documents, the keys."""
        yield Static(self._summary(), classes="page-head")
        failures = OptionList(*[Option(self._entry(failure)) for failure in self._status.failures])
        failures.border_title = "Failed documents"
        yield failures
        nothing = Static(Content("✓ Every document could be read."), id="nothing")
        nothing.border_title = "Failed documents"
        yield nothing
        yield KeyBar()

    def on_mount(self) -> None:
        """A list, or the word that there is none."""
        failed = bool(self._status.failures)
        self.query_one(OptionList).display = failed
        self.query_one("#nothing").display = not failed

    def _summary(self) -> Content:
        status = self._status
        skipped = ", ".join(
            f"{number:,} {one_line(why, 60)}" for why, number in status.skipped.items() if number
        )
        line = f"{count(status.indexed, 'document')} indexed · {status.failed:,} failed"
        if status.stale:
            line += f" · {status.stale:,} stale"
        threshold = status.threshold
        parts: list[str | tuple[str, str]] = [(line, "bold"), f" · {count(status.chunks, 'chunk')}\n"]
        parts.append((f"skipped: {skipped or 'nothing'}\n", "$quiet"))
        for name, missing in status.gaps.items():
            parts.append((f"read in part: {one_line(name, 120)}: {one_line(missing[0], 200)}\n", "$warning"))
        if threshold is not None:
            detail = f": {one_line(threshold.detail, 120)}" if threshold.detail else ""
            parts.append((f"threshold {threshold.value:.3f}, {threshold.origin}{detail}", "$quiet"))
        return Content.assemble(*parts)

    @staticmethod
    def _entry(failure: FailedDocument) -> Content:
        return Content.assemble(
            ("✗ ", "$error"),
            (one_line(failure.name, 300), "bold"),
            f"\n  {one_line(failure.reason, 300)}",
            (f"\n  {one_line(failure.hint, 300)}" if failure.hint else "", "$quiet"),
        )

    def offers(self, action: str) -> bool:
        """Nothing to retry or to copy where nothing failed."""
        return bool(self._status.failures) or action not in {"retry", "copy"}

    def action_retry(self) -> None:
        """Read them again, behind the chat screen."""
        app = cast("RagchatApp", self.app)
        app.pop_screen()
        if app.session is not None:
            app.session.index(retry=True)

    def action_copy(self) -> None:
        """Copy the path of the document under the cursor."""
        app = cast("RagchatApp", self.app)
        at = self.query_one(OptionList).highlighted
        if at is not None and app.folder is not None:
            app.copy(str(app.folder / self._status.failures[at].name), "the path")
