"""What filters can name, read in a thread while the first one is being typed."""

from __future__ import annotations

from contextlib import suppress

from ragchat.errors import RagchatError
from ragchat.tui.messages import FilterNamesRead
from ragchat.tui.session import Session


def read_filter_names(session: Session) -> None:
    """Post them; nothing where the index cannot tell."""
    from ragchat.answering.suggestions import filter_names

    with suppress(RagchatError):
        if session.workspace.has_index():
            session.post(FilterNamesRead(session, filter_names(session.workspace.index().sources())))
