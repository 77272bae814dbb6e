"""The sentence before and the sentence after a passage, for the model alone.

A condition and its conclusion may fall into two passages. Their sentences are sent along with what was found;
the range that is cited stays the passage's own. With four passages sent, all of an answer's gold spans reach
the model for 77.3 % of the questions instead of 70.6 % (chunking-eval; docs/retrieval.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ragchat.chunking.chunk import Chunk
from ragchat.chunking.sentences import sentence_spans
from ragchat.index.protocol import Snapshot
from ragchat.retrieval.trace import Candidate

LONGEST = 300
"""Characters of a sentence that is sent along; a longer one is a list or a table, or no sentence at all."""


def with_neighbours(candidates: Sequence[Candidate], snapshot: Snapshot) -> tuple[Candidate, ...]:
    """The same candidates, those that are sent with the sentences around them.

    Only within a section, and nothing that is sent as a source of its own.
    """
    sent = [candidate for candidate in candidates if candidate.verdict == "sent"]
    own = {_place(candidate.chunk) for candidate in sent}
    around: dict[int, tuple[str, str]] = {}
    neighbours = snapshot.neighbours([candidate.chunk_id for candidate in sent])
    for candidate, (before, after) in zip(sent, neighbours, strict=True):
        if before is not None and (candidate.chunk.lead or _place(before) in own):
            before = None  # its words are sent already
        if after is not None and _place(after) in own:
            after = None
        around[candidate.chunk_id] = (_sentence(before, -1), _sentence(after, 0))
    return tuple(
        replace(candidate, before=around[candidate.chunk_id][0], after=around[candidate.chunk_id][1])
        if candidate.chunk_id in around
        else candidate
        for candidate in candidates
    )


def _place(chunk: Chunk) -> tuple[str, int]:
    return chunk.document, chunk.start


def _sentence(chunk: Chunk | None, which: int) -> str:
    spans = sentence_spans(chunk.content, 0, len(chunk.content)) if chunk is not None else []
    if chunk is None or not spans:
        return ""
    start, end = spans[which]
    return chunk.content[start:end] if end - start <= LONGEST else ""
