"""What holds for every document, however it is laid out, and every encoder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import regex  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from ragchat.chunking.chunk import Chunk
from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.options import ChunkOptions
from ragchat.chunking.speech import Speech
from ragchat.documents.document import Document
from tests.chunking.documents import documents

LAWS = settings(max_examples=80, deadline=None)


@dataclass(frozen=True)
class Counter:
    """An encoder's counting, as one function."""

    count: Callable[[str], int]
    window: int

    def count_tokens(self, text: str) -> int:
        return self.count(text)


COUNTERS = (
    Counter(lambda text: len(text.split()) + 2, 256),
    Counter(lambda text: len(text) + 2, 64),
    Counter(lambda text: len(text.encode()) + 2, 128),
    Counter(lambda text: len(text) // 4 + 2, 48),
    # A text as a whole takes more than its parts by themselves.
    Counter(lambda text: len(text) // 3 + 2 * text.count(" ") + text.count("\n") ** 2 + 1, 100),
)

options = st.builds(
    ChunkOptions,
    strategy=st.sampled_from(("boundaries", "blind", "sections")),
    size=st.sampled_from((40, 100, 512)),
    overlap=st.sampled_from((0, 1, 39)),
    header=st.booleans(),
    code=st.booleans(),
)
counters = st.sampled_from(COUNTERS)


def unreachable(document: Document, chosen: ChunkOptions) -> set[int]:
    """Offsets that the options keep out of every chunk."""
    spans = [(span.start, span.end) for span in document.excluded]
    spans += [(span.start, span.end) for span in document.silent if span.end - span.start > 4 * chosen.size]
    if not chosen.code:
        spans += [(block.start, block.end) for block in document.blocks if block.kind == "code"]
    return {offset for start, end in spans for offset in range(start, end)}


@LAWS
@given(documents(), options, counters)
def test_every_chunk_is_a_slice_in_order_that_fits_the_window(
    document: Document, chosen: ChunkOptions, counter: Counter
) -> None:
    chunks = chunk_document(document, chosen, counter)
    outside = unreachable(document, chosen)

    for chunk in chunks:
        assert 0 <= chunk.context_start <= chunk.start < chunk.end <= len(document.text)
        assert document.text[chunk.start : chunk.end] == chunk.content == chunk.content.strip()
        assert document.text[chunk.context_start : chunk.end] == chunk.sent
        assert chunk.tokens == counter.count_tokens(chunk.text) <= counter.window
        assert 0 <= chunk.header_tokens <= counter.window // 3
        assert chunk.start - chunk.context_start <= chosen.overlap
        assert outside.isdisjoint(range(chunk.context_start, chunk.end))
        assert chunk.text == chunk.text.encode("utf-8", "replace").decode()
    for before, after in pairwise(chunks):
        assert before.end <= after.start


@LAWS
@given(documents(), options, counters)
def test_nothing_is_lost(document: Document, chosen: ChunkOptions, counter: Counter) -> None:
    chunks = chunk_document(document, chosen, counter)

    found = {offset for chunk in chunks for offset in range(chunk.start, chunk.end)}
    headings = {
        offset for section in document.sections for offset in range(section.start, section.body_start)
    }
    silent = {offset for span in document.silent for offset in range(span.start, span.end)}
    may_be_lost = unreachable(document, chosen) | silent | (set() if chosen.strategy == "blind" else headings)
    lost = [
        document.text[offset]
        for offset in range(len(document.text))
        if offset not in found and offset not in may_be_lost
    ]
    assert regex.search(r"[^\p{Z}\p{Cc}\p{Cf}]", "".join(lost)) is None


@LAWS
@given(documents(), options, counters)
def test_a_chunk_stays_in_its_section_and_within_the_size(
    document: Document, chosen: ChunkOptions, counter: Counter
) -> None:
    silent = {offset for span in document.silent for offset in range(span.start, span.end)}
    for chunk in chunk_document(document, chosen, counter):
        if chosen.strategy != "sections":
            assert sum(offset not in silent for offset in range(chunk.start, chunk.end)) <= chosen.size
            assert chunk.end - chunk.start <= 4 * chosen.size
        home = next(section for section in document.sections if section.start <= chunk.start < section.end)
        if chosen.strategy == "blind":
            assert chunk.section == home.path
        elif chunk.start >= home.body_start:
            assert chunk.section == home.path
            assert home.body_start <= chunk.context_start
            assert chunk.end <= home.end
        else:
            assert chunk.section == home.path[:-1]


@LAWS
@given(documents(), options, counters)
def test_no_character_is_cut_in_two(document: Document, chosen: ChunkOptions, counter: Counter) -> None:
    layout = {0, len(document.text)}
    for spans in (document.blocks, document.sections, document.excluded, document.silent):
        layout |= {edge for span in spans for edge in (span.start, span.end)}
    whole = {0, len(document.text)}
    for cluster in regex.finditer(r"\X", document.text):
        whole.add(cluster.end())
        longest = counter.count_tokens(cluster.group()) > counter.window // 3 or len(cluster.group()) > 40
        if longest or cluster.group()[0].isspace():
            whole |= set(range(cluster.start(), cluster.end()))

    for chunk in chunk_document(document, chosen, counter):
        assert {chunk.start, chunk.end} <= whole | layout


@LAWS
@given(documents(), options, counters)
def test_the_same_document_gives_the_same_chunks(
    document: Document, chosen: ChunkOptions, counter: Counter
) -> None:
    first: list[Chunk] = chunk_document(document, chosen, counter)
    assert chunk_document(document, chosen, counter) == first


@LAWS
@given(documents(), counters)
def test_overlap_and_header_change_no_range(document: Document, counter: Counter) -> None:
    """Only what is embedded grows; where the window is wide enough, the cuts stay where they are."""
    wide = Counter(counter.count, 1_000_000)
    plain = chunk_document(document, ChunkOptions(size=100, header=False), wide)
    rich = chunk_document(document, ChunkOptions(size=100, overlap=60), wide)
    assert [(chunk.start, chunk.end) for chunk in plain] == [(chunk.start, chunk.end) for chunk in rich]
    speech = Speech(document.text, document.silent)
    for chunk in rich:
        assert chunk.text.endswith(speech.words(chunk.start, chunk.end))
