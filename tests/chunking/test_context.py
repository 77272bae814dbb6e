"""A model's context before a passage: read by the searches, never quoted, never over the window."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragchat.chunking.chunk import Chunk
from ragchat.chunking.chunker import chunk_document
from ragchat.chunking.context import LONGEST, with_context
from ragchat.chunking.options import ChunkOptions
from ragchat.documents.document import Document
from ragchat.documents.reader import parse_document
from tests.doubles import WordEmbedder

NOTE = b"# Lease\n\n## Term\n\nIt ends on 31 March 2027.\n"


def the_chunk(counter: WordEmbedder, *, header: bool = True) -> Chunk:
    document = parse_document(NOTE, "lease.md")
    assert isinstance(document, Document)
    (chunk,) = chunk_document(document, ChunkOptions(header=header), counter)
    return chunk


def test_it_stands_between_the_header_and_the_words() -> None:
    counter = WordEmbedder()
    chunk = the_chunk(counter)
    made = with_context(chunk, "The lease of the flat\nin Elm Street.", counter)
    assert made.text == "[Lease > Term]\nThe lease of the flat in Elm Street.\nIt ends on 31 March 2027."
    assert (made.content, made.start, made.end) == (chunk.content, chunk.start, chunk.end)
    assert made.tokens == counter.count_tokens(made.text)
    # What the context adds is no word of the passage's own.
    assert made.header_tokens - chunk.header_tokens == made.tokens - chunk.tokens == 8


def test_without_a_header_it_comes_first_and_an_empty_one_changes_nothing() -> None:
    counter = WordEmbedder()
    chunk = the_chunk(counter, header=False)
    made = with_context(chunk, "The lease of the flat.", counter)
    assert made.text.startswith("The lease of the flat.\nIt")
    for nothing in ("", " \n ", "Short."):
        assert with_context(chunk, nothing, counter) == chunk


@given(st.text(max_size=2_000), st.integers(9, 60))
def test_it_keeps_to_the_window_and_touches_no_word(context: str, window: int) -> None:
    counter = WordEmbedder(window=window)
    chunk = the_chunk(WordEmbedder())
    made = with_context(chunk, context, counter)
    assert made.content == chunk.content
    assert made == chunk or (made.tokens <= window and made.text.endswith(chunk.content))
    assert len(made.text) <= len(chunk.text) + LONGEST + 1


def test_one_sentence_of_it_is_taken() -> None:
    counter = WordEmbedder()
    chunk = the_chunk(counter)
    made = with_context(
        chunk, "Sure! It is the lease of the flat. It is the lease of the flat. It is", counter
    )
    assert made.text.split("\n")[1] == "Sure! It is the lease of the flat."
