"""What was read and not embedded yet: found by its words, ranked as the index ranks, hidden or shown once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document
from ragchat.index.overlay import Overlay
from ragchat.index.packing import text_digest
from ragchat.index.protocol import Coverage, Scope
from ragchat.index.source import Source
from ragchat.index.store import SqliteIndex, open_index
from ragchat.index.tokens import tokenize
from ragchat.index.waiting import Waiting
from ragchat.index.words import Words
from tests.doubles import WordEmbedder
from tests.index.building import EMBEDDER, STAMP, chunks_of, document, put, source
from tests.index.test_lexical import lexical_of, masks


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    opened = open_index(tmp_path / "data")
    yield opened
    opened.close()


ANYWHERE = Scope()
ROWS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=8), min_size=1, max_size=12)


@given(rows=ROWS, question=st.lists(st.sampled_from("abcxyz"), max_size=4), data=st.data())
def test_rows_that_come_and_go_are_ranked_as_those_of_the_index(
    rows: list[list[str]], question: list[str], data: st.DataObject
) -> None:
    words, gone = Words(), data.draw(st.sets(st.sampled_from(range(len(rows)))))
    places = [words.add([row]) for row in rows]
    for at in gone:
        words.remove(places[at])
    kept = [at for at in range(len(rows)) if at not in gone]
    if not kept:
        assert words.best(question) == []
        return
    indexed = lexical_of(rows, [], gone)
    best = indexed.best(question, len(rows), masks(indexed))
    order = sorted(best, key=lambda pair: (-round(pair[0], 9), pair[1]))
    assert words.best(question) == [row for _, row in order]
    assert [words.frequency(token) for token in "abc"] == [indexed.frequency(token) for token in "abc"]


def passages(whole: Document) -> Sequence[Chunk]:
    """Each line a passage."""
    ranges, start = [], 0
    for line in whole.text.split("\n"):
        ranges.append((start, start + len(line)))
        start += len(line) + 1
    return chunks_of(whole, *ranges)


def waiting_for(known: dict[str, Source], **texts: str) -> Waiting:
    waiting = Waiting()
    waiting.begin(texts, (), known)
    for name, text in texts.items():
        waiting.add(document(name, text), source(name, text))
        waiting.has_read(name)
    return waiting


def overlay(index: SqliteIndex, waiting: Waiting, question: str) -> tuple[Overlay, list[str]]:
    """The snapshot, and the texts that were embedded for it."""
    embedder = WordEmbedder(dimensions=32)
    tokens = tokenize(question)
    view = waiting.view(tokens, ANYWHERE, 9)
    chunks = [chunk for each in view.best for chunk in waiting.chunks(each, passages)]
    waiting.embedded.token_dimensions = embedder.token_dimensions
    snapshot = Overlay(STAMP, index.snapshot(), view, chunks, waiting.embedded, embedder, tokens)
    return snapshot, embedder.texts_embedded


def test_a_waiting_version_hides_the_one_in_the_index(index: SqliteIndex) -> None:
    index.begin(STAMP)
    put(index, "a", "the cat sleeps", "the dog barks")
    put(index, "b", "a bird sings")
    waiting = waiting_for(dict(index.sources()), a="the cat wakes\nthe cow moos", c="a cat and a bird")
    snapshot, embedded = overlay(index, waiting, "cat bird")
    found = snapshot.chunks([hit.chunk_id for hit in snapshot.lexical(["cat", "bird"], 9, ANYWHERE)])
    assert {chunk.content for chunk in found} == {"the cat wakes", "a bird sings", "a cat and a bird"}
    near = snapshot.dense(EMBEDDER.embed_question("the dog barks"), 9, ANYWHERE)
    assert {chunk.content for chunk in snapshot.chunks([hit.chunk_id for hit in near])} == {
        "the cat wakes",
        "a bird sings",
        "a cat and a bird",
    }
    assert sorted(embedded) == ["[T]\na cat and a bird", "[T]\nthe cat wakes"]
    assert snapshot.coverage == Coverage(1, 0, 0, pending=2, by_words=2)


def test_distances_of_waiting_passages_are_real_and_made_once(index: SqliteIndex) -> None:
    index.begin(STAMP)
    waiting = waiting_for({}, a="the cat sleeps\nthe dog barks")
    snapshot, embedded = overlay(index, waiting, "cat")
    ids = snapshot.containing("dog", ANYWHERE, 5)
    rows = snapshot.vectors([*ids, *snapshot.containing("cat", ANYWHERE, 5)])
    assert np.array_equal(rows, EMBEDDER.embed_passages(["[T]\nthe dog barks", "[T]\nthe cat sleeps"]))
    assert len(embedded) == 2
    assert waiting.embedded.digests() == {text_digest(text) for text in embedded}
    tokens = snapshot.token_vectors(ids)
    assert tokens is not None
    assert np.array_equal(tokens[0], EMBEDDER.embed_passages_with_tokens(["[T]\nthe dog barks"])[1].rows(0))
    assert len(embedded) == 2
    _, again = overlay(index, waiting, "cat dog")
    assert again == []


def test_what_was_asked_about_is_embedded_next(index: SqliteIndex) -> None:
    index.begin(STAMP)
    waiting = waiting_for({}, a="one", b="two", c="three", d="four")
    overlay(index, waiting, "three")
    order = []
    while (waits := waiting.next()) is not None:
        order.append(waits[0].name)
    assert order == ["c", "a", "b", "d"]


def test_what_was_committed_or_excluded_is_found_no_more() -> None:
    waiting = waiting_for({}, a="the cat sleeps")
    waiting.leave("a")
    view = waiting.view(["cat"], ANYWHERE, 9)
    assert (view.best, view.is_empty, view.characters) == ((), True, 0)


def test_a_long_line_and_a_long_note_are_found_by_their_last_word() -> None:
    waiting = waiting_for({}, line="x" * 3_000_000 + " walrus", book="a line of a book\n" * 10_000 + "otter")
    assert [each.name for each in waiting.view(["walrus"], ANYWHERE, 9).best] == ["line"]
    assert [each.name for each in waiting.view(["otter"], ANYWHERE, 9).best] == ["book"]


@pytest.mark.parametrize(("later", "waits"), [(0.0, 3.0), (2.5, 0.5), (60.0, 0.0)])
def test_a_question_waits_for_reading_that_began_a_moment_ago(
    monkeypatch: pytest.MonkeyPatch, later: float, waits: float
) -> None:
    now, waited = 100.0, list[float]()
    monkeypatch.setattr("ragchat.index.waiting.time.monotonic", lambda: now)
    waiting = Waiting()
    waiting.begin(["a.md"], [], {})
    monkeypatch.setattr(waiting._read, "wait", waited.append)
    now += later
    waiting.wait_until_read(3.0)
    assert waited == [waits]
