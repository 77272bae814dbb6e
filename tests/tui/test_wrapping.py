"""Long documents as rows: nothing lost, nothing wider than the view, lines numbered as an editor does."""

from __future__ import annotations

import time

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from ragchat.tui.formatting import quoted
from ragchat.tui.wrapping import drawn, wrap

TEXT = st.text(
    st.one_of(
        st.sampled_from(" \t\r\n\x1b\x00\x07ab"),
        st.characters(codec="utf-8"),
        st.sampled_from("日本語、。é\u0301"),
    ),
    max_size=300,
)


@given(TEXT, st.integers(8, 60))
def test_rows_are_the_text_without_its_line_ends(text: str, width: int) -> None:
    rows = wrap(text, width)
    joined = "".join(text[start:end] for start, end in zip(rows.starts, rows.ends, strict=True))
    assert joined == text.replace("\r", "").replace("\n", "")


@given(TEXT, st.integers(8, 60))
@example(" 000\x1f\U00020000", 8)
def test_no_row_is_wider_than_the_view(text: str, width: int) -> None:
    rows = wrap(text, width)
    for start, end in zip(rows.starts, rows.ends, strict=True):
        # a blank at the cut may hang over the edge, where it is not seen
        assert cell_len(drawn(text[start:end]).rstrip(" ")) <= width


@given(TEXT, st.integers(8, 60))
def test_every_character_is_found_in_the_row_that_holds_it(text: str, width: int) -> None:
    rows = wrap(text, width)
    for row in range(len(rows)):
        for offset in (rows.starts[row], rows.ends[row] - 1):
            if rows.starts[row] <= offset < rows.ends[row]:
                assert rows.at(offset) == row


@given(TEXT)
def test_lines_are_numbered_as_an_editor_does(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    expected = max(1, len(lines) - (1 if len(lines) > 1 and lines[-1] == "" else 0))
    assert wrap(text, 40).numbers[-1] == expected


def test_cr_lf_and_crlf_each_end_one_line() -> None:
    assert list(wrap("a\rb\nc\r\nd", 20).numbers) == [1, 2, 3, 4]


def test_nothing_that_is_drawn_can_move_the_cursor() -> None:
    assert drawn("a\x1b[2J\x07\tb") == "a\\x1b[2J\\x07    b"


def test_three_megabytes_are_wrapped_at_once() -> None:
    text = ("All work and no play makes Jack a dull boy. " * 30 + "\n") * 2300
    start = time.perf_counter()
    rows = wrap(text, 100)
    assert time.perf_counter() - start < 1.0  # 0.1 s on a quiet machine
    assert len(rows) > 30_000


@given(st.text("ab 漢字é…\n", max_size=80), st.integers(4, 40))
def test_a_quote_keeps_its_cells_and_says_that_it_goes_on(text: str, most: int) -> None:
    shown = quoted(text, most)
    flat = " ".join(text.split())
    assert cell_len(shown) <= most
    assert flat.startswith(shown.removesuffix("…")) or shown == flat
    assert shown == flat or shown.endswith("…")


def test_a_quote_is_cut_behind_a_word_and_japanese_by_cells() -> None:
    words = "It may be raised once a year, at most by the consumer price index, and never"
    assert quoted(words, 54) == "It may be raised once a year, at most by the consumer…"
    assert quoted(words, 50) == "It may be raised once a year, at most by the…"
    assert quoted("冷蔵庫の保証は二〇二七年三月までです。", 21) == "冷蔵庫の保証は二〇二…"
