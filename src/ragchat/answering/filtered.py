"""A question with its filters becomes a trace: the one way that the screen, `ask` and `search` go."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import replace

from ragchat.answering.filter_words import split_filters
from ragchat.answering.follow_up import retrieve_follow_up
from ragchat.answering.retrieves import NOBODY, Retrieves
from ragchat.index.protocol import Scope
from ragchat.retrieval.filters import NO_FILTERS, Filters, Narrowed, narrow
from ragchat.retrieval.trace import RetrievalTrace


def retrieve_filtered(
    retriever: Retrieves,
    typed: str,
    filters: Filters = NO_FILTERS,
    *,
    admit: AbstractSet[int] = NOBODY,
    follows: str = "",
) -> RetrievalTrace:
    """The trace of a question as it was typed, of the notes that its filters and `filters` leave.

    follows: the question before, as it was typed, for a follow-up. Its filters hold for a follow-up that has
    none of its own; `in:/`, all notes, drops them.
    Raises UsageError for a filter that names nothing there is; else as `Retriever.retrieve`.
    """
    question, own = split_filters(typed)
    before, earlier = split_filters(follows)
    chosen = (filters & own) or earlier
    narrowed = narrow(chosen, retriever.sources()) if chosen else Narrowed(NO_FILTERS, Scope())
    if before and not admit:
        trace = retrieve_follow_up(retriever, question, before, narrowed.scope)
    else:
        trace = replace(retriever.retrieve(question, narrowed.scope, admit), follows=before)
    beside = f"{filters} {typed}" if filters else typed
    return replace(narrowed.told_in(trace), typed=beside, typed_before=follows)
