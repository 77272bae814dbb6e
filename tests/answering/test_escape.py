"""Hostile text is shown, never obeyed; ordinary text in any script is left alone."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.escape import StreamEscaper, escape_control, escape_line

ANY_TEXT = st.text(alphabet=st.characters(), max_size=80) | st.text(
    alphabet="\r\n\t\x1b\x9b\x07a\u202e", max_size=20
)


@given(ANY_TEXT)
def test_nothing_that_a_terminal_obeys_is_left(text: str) -> None:
    shown = escape_control(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert escape_control(shown) == shown
    shown.encode()
    assert len(escape_line(text).splitlines()) <= 1


@given(st.lists(ANY_TEXT, max_size=5))
def test_any_split_of_a_stream_is_shown_alike(pieces: list[str]) -> None:
    escaper = StreamEscaper()
    assert "".join(map(escaper.feed, pieces)) + escaper.finish() == escape_control("".join(pieces))


@pytest.mark.parametrize(
    "text",
    [
        "שלום עולם",
        "\u200fمرحبا\u200e",
        "👩\u200d👩\u200d👧",
        "क\u094d\u200dष",
        "🏴\U000e0067\U000e0062\U000e007f",
        "a\tb\nc",
    ],
)
def test_ordinary_text_survives(text: str) -> None:
    assert escape_control(text) == text


def test_what_attackers_write_is_visible() -> None:
    assert (
        escape_control("\x1b]0;x\x07\x00\x9b2J\u202eabc\u2066")
        == "\\x1b]0;x\\x07\\x00\\x9b2J\\u202eabc\\u2066"
    )
    assert escape_line("a\nb\tc\r\u2028") == "a\\nb\\tc\\r\\u2028"
    assert escape_control("one\r\ntwo\rthree") == "one\ntwo\nthree"
