from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ragchat.embedding.texts import halves, pieces, readable

any_text = st.text(st.characters(), max_size=200)


@settings(deadline=None)
@given(any_text, st.integers(1, 40))
def test_pieces_are_the_text_and_each_fits(text: str, limit: int) -> None:
    cut = pieces(text, lambda piece: len(piece) <= limit)
    assert "".join(cut) == text
    assert all(len(piece) <= limit for piece in cut)


def test_a_text_is_cut_between_words_and_not_in_one() -> None:
    assert halves("a quick brown fox jumps") == ("a quick brown", " fox jumps")
    assert halves("x" * 10) == ("x" * 5, "x" * 5)


def test_white_space_at_an_end_is_no_place_to_cut() -> None:
    assert halves("\r0") == ("\r", "0")
    assert halves("0 ") == ("0", " ")
    assert halves(" abc") == (" a", "bc")


def test_what_never_fits_still_ends() -> None:
    assert pieces("abc", lambda piece: False) == ["a", "b", "c"]


@settings(deadline=None)
@given(any_text)
def test_a_readable_text_has_a_utf8_form_of_the_same_length(text: str) -> None:
    read = readable(text)
    assert read.encode().decode() == read
    assert len(read) == len(text)
    assert all(a == b for a, b in zip(read, text, strict=True) if not "\ud800" <= b <= "\udfff")
