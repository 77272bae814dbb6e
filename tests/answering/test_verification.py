"""Cited words held against their note as it is now."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.verification import locate, verify_span
from ragchat.index.protocol import IndexStamp
from ragchat.index.store import open_index
from ragchat.settings import NotesSettings
from tests.index.building import EMBEDDER, put

NOTE = "# Lease\n\nIt ends in March.\n\nThe rent is 900.\n\nPets are allowed.\n"
RENT = NOTE.index("The rent")
QUOTE = "The rent is 900."


@pytest.mark.parametrize(
    ("now", "standing", "words"),
    [
        (NOTE, "exact", QUOTE),
        (NOTE + "\nMore.\n", "exact", QUOTE),
        ("Preface.\n\n" + NOTE, "moved", QUOTE),
        (NOTE.replace("March", "the month of April"), "moved", QUOTE),
        (QUOTE + "\n\n" + NOTE.replace(QUOTE, "") + "\n\nEnd.", "moved", QUOTE),
        (NOTE.replace("900", "950"), "changed", "The rent is 950."),
        ("Preface.\n\n" + NOTE.replace("900", "1,000"), "changed", None),
        (NOTE.replace(QUOTE + "\n\n", ""), "changed", None),
        ("", "changed", ""),
    ],
)
def test_words_are_exact_moved_or_changed(now: str, standing: str, words: str | None) -> None:
    span = locate(QUOTE, RENT, RENT + len(QUOTE), NOTE, now)
    assert span.standing == standing
    if words is not None:
        assert span.now == words


def test_of_two_equal_passages_the_nearer_one_is_gone_to() -> None:
    before = "same\n" + "x\n" * 50 + "same\n" + "y\n" * 50
    start = before.rindex("same")
    span = locate("same", start, start + 4, before, "new line\n" + before)
    assert (span.standing, span.start) == ("moved", start + 9)


def test_what_is_left_of_a_passage_is_found_among_other_edits() -> None:
    quote = "The flat has three rooms and a balcony. It lies in the third floor, facing the court."
    before = f"# Flat\n\nOld.\n\n{quote}\n\nAnd more.\n"
    start = before.index(quote)
    edited = quote.replace("three rooms", "four rooms").replace("third", "fourth")
    now = f"A new line.\n\n{before.replace(quote, edited)}\nA last one.\n"
    span = locate(quote, start, start + len(quote), before, now)
    assert (span.standing, span.now) == ("changed", edited)


PIECES = st.text(alphabet="ab é\n日", max_size=12)


@given(
    before=PIECES,
    quote=PIECES,
    after=PIECES,
    now=PIECES,
    keep=st.booleans(),
)
def test_the_range_always_lies_in_the_note_and_holds_the_words_unless_changed(
    before: str, quote: str, after: str, now: str, keep: bool
) -> None:
    then = before + quote + after
    text = now + quote + after if keep else now
    span = locate(quote, len(before), len(before) + len(quote), then, text)
    assert 0 <= span.start <= span.end <= len(text)
    assert span.text == text
    assert (span.now == quote) if span.standing != "changed" else (not quote or quote not in text)
    end = len(before) + len(quote)
    there = end <= len(text) and text[len(before) : end] == quote
    assert (span.standing == "exact") == there


def test_the_file_is_read_as_it_is_now(tmp_path: Path) -> None:
    index = open_index(tmp_path / "data")
    index.begin(IndexStamp(EMBEDDER.stamp, "test/1"))
    folder = tmp_path / "notes"
    folder.mkdir()
    put(index, "a.md", "one two", "three four")
    (folder / "a.md").write_text("zero\none two\nthree four")
    moved = verify_span(folder, NotesSettings(), index, "a.md", 8, 18)
    assert (moved.standing, moved.quote, moved.now, moved.start) == ("moved", "three four", "three four", 13)
    (folder / "a.md").unlink()
    assert verify_span(folder, NotesSettings(), index, "a.md", 8, 18).standing == "gone"
    index.close()
