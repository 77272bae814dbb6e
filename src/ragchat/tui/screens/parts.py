"""The parts of the main screen, by their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from textual.screen import Screen

from ragchat.tui.widgets.banner import Banner
from ragchat.tui.widgets.conversation import Conversation
from ragchat.tui.widgets.header import Header
from ragchat.tui.widgets.sources import SourcesPanel

if TYPE_CHECKING:
    from ragchat.tui.app import RagchatApp
    from ragchat.tui.evidence import Evidence
    from ragchat.tui.session import Session
    from ragchat.tui.widgets.prompt import Prompt


class ChatParts(Screen[object]):
    """What the keys of the main screen act on."""

    @property
    def ragchat(self) -> RagchatApp:
        """The app, by its own type."""
        return cast("RagchatApp", self.app)

    @property
    def header(self) -> Header:
        """The top line."""
        return self.query_one(Header)

    @property
    def banner(self) -> Banner:
        """The line for progress and problems."""
        return self.query_one(Banner)

    @property
    def conversation(self) -> Conversation:
        """The turns."""
        return self.query_one(Conversation)

    @property
    def sources(self) -> SourcesPanel:
        """The selected turn's sources."""
        return self.query_one(SourcesPanel)

    @property
    def prompt(self) -> Prompt:
        """Where questions are written."""
        return cast("Prompt", self.query_one("#prompt"))

    @property
    def session(self) -> Session | None:
        """The open folder's session."""
        return self.ragchat.session

    @property
    def evidence(self) -> Evidence | None:
        """The evidence that the keys act on: the selected turn's."""
        selected = self.conversation.selected
        return selected.evidence if selected is not None else None

    @property
    def is_writing(self) -> bool:
        """Whether the prompt has the focus."""
        return self.focused is not None and self.focused.has_class("prompt")

    @property
    def drawer_is_open(self) -> bool:
        """Whether the sources lie below the conversation now."""
        return self.has_class("-narrow") and self.has_class("drawer-open")

    @property
    def is_zoomed(self) -> bool:
        """Whether one pane has the whole screen."""
        return self.has_class("zoomed")

    def action_zoom(self) -> None:
        """The focused pane over the whole screen, the conversation while one writes; and back."""
        if self.is_zoomed:
            self.end_zoom()
            return
        pane = self.sources if self.focused is self.sources else self.conversation
        pane.focus()
        self.add_class("zoomed", f"zoom-{pane.id}")

    def end_zoom(self) -> None:
        """All panes again."""
        self.remove_class("zoomed", "zoom-conversation", "zoom-sources")

    def write(self) -> None:
        """To the prompt, which a zoomed pane hides."""
        self.end_zoom()
        self.prompt.focus()
