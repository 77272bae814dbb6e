"""How a filter that is being typed may go on."""

from __future__ import annotations

import pytest

from ragchat.answering.filter_words import split_filters
from ragchat.answering.suggestions import completions, filter_names, typed_filter
from ragchat.index.source import Source

NAMES = filter_names(
    {
        name: Source(name, 1, 1, "d", "t/1", "indexed", tags=tags, dated=dated)
        for name, tags, dated in [
            ("house/lease.md", ("tax",), "2025-01-31"),
            ("house/old/lease.md", ("tax", "rent"), "2024-12-31"),
            ("My notes/a.md", ("two words",), "2025-02-01"),
            ("\u0414\u043e\u043c.md", (), "2025-02-02"),
        ]
    }
)


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("when? in:ho", ["in:house/", "in:house/old/", "in:house/lease.md", "in:house/old/lease.md"]),
        ("in:house/o", ["in:house/old/", "in:house/old/lease.md"]),
        ("in:OLD", ["in:house/old/", "in:house/old/lease.md"]),
        ("-in:my", ['-in:"My notes/"', '-in:"My notes/a.md"']),
        ('in:"My n', ['in:"My notes/"', 'in:"My notes/a.md"']),
        ("in:\u0434", ["in:\u0414\u043e\u043c.md"]),
        ("tag:", ["tag:tax", "tag:rent", 'tag:"two words"']),
        ("after:2025", ["after:2025-02", "after:2025-01"]),
        ("tag:tax", []),
        ("in:house/lease.md tag:t", ["tag:tax", 'tag:"two words"']),
        ("in:zzz", []),
        ("in:house/ x", []),
        ("built-in:ho", []),
        ("words", []),
    ],
)
def test_the_likeliest_names_come_first(typed: str, found: list[str]) -> None:
    assert completions(NAMES, typed) == found
    for each in found:
        assert split_filters(f"{each} x")[0] == "x"


def test_what_is_typed_of_a_filter() -> None:
    assert typed_filter("when is -in:ho") == "-in:ho"
    assert typed_filter('in:"My no') == 'in:"My no'
    assert typed_filter("in: ho") == typed_filter("ho") == ""
    assert completions(None, "in:h") == []
