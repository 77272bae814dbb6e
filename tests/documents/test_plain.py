"""Plain text: paragraphs as they stand, nothing guessed."""

from __future__ import annotations

from tests.documents.laws import check_laws, read, words


def test_paragraphs_end_at_blank_lines() -> None:
    document = read("# no heading\r\nsame\r\n \t\r\n\r\nnext\n\n\n  indented\n", "a.txt")
    assert [words(document, block) for block in document.blocks] == [
        "# no heading\r\nsame",
        "next",
        "indented",
    ]
    assert [section.path for section in document.sections] == [()]
    assert document.silent == ()
    assert document.title == "a"
    check_laws(document)


def test_a_log_without_blank_lines_is_one_paragraph() -> None:
    document = read("2026-01-01 00:00:00 ERROR E1234\n" * 5_000, "app.log")
    assert len(document.blocks) == 1
