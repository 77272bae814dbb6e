"""Lines of scripts without blanks are broken between their characters, and lose none of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from ragchat.tui.line_breaks import break_between_wide_characters, units

TEXT = st.text(
    st.one_of(st.sampled_from("ab 、。（）「」っー日本語\u3099👩\u200d"), st.characters(codec="utf-8"))
)


@pytest.fixture(autouse=True)
def installed() -> None:
    break_between_wide_characters()


def lines(text: str, width: int) -> list[str]:
    """As a widget of this width draws it."""
    return [line.plain.rstrip() for line in Content(text).wrap(width)]


@given(TEXT)
def test_units_are_the_whole_text(text: str) -> None:
    stripped = text.rstrip()
    found = "".join(piece for _, _, piece in units(text))
    assert text.startswith(found)
    assert len(found) >= len(stripped)
    assert all(text[start:end] == piece for start, end, piece in units(text))


@given(TEXT.filter(lambda text: text.isprintable()), st.integers(4, 30))
def test_no_line_is_too_wide_and_no_character_is_lost(text: str, width: int) -> None:
    drawn = lines(text, width)
    assert all(cell_len(line) <= width for line in drawn)
    assert "".join("".join(drawn).split()) == "".join(text.split())


def test_a_latin_word_no_longer_sends_the_sentence_to_the_next_line() -> None:
    assert lines("WALは追記しかしないため、放置すればディスクを使い切ります。", 24) == [
        "WALは追記しかしないた",
        "め、放置すればディスクを",
        "使い切ります。",
    ]


def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one() -> None:
    assert lines("あいうえお、かきく", 10) == ["あいうえ", "お、かきく"]
    assert lines("あいうえ「かき」", 10) == ["あいうえ", "「かき」"]
    assert lines("チェックポイント以降のログ", 10) == ["チェックポ", "イント以降", "のログ"]


def test_other_scripts_break_at_blanks_as_before() -> None:
    assert lines("the lease ends on", 10) == ["the lease", "ends on"]
    assert lines("договор кончается", 10) == ["договор", "кончается"]
