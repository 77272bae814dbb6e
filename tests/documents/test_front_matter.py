"""Front matter of YAML and TOML, and the title in it."""

from __future__ import annotations

import pytest

from ragchat.documents.front_matter import front_matter


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("---\ntitle: Plain words\n---\n", "Plain words"),
        ("---\ntitle: Plain # comment\n---\n", "Plain"),
        ("---\ntitle: C# notes\n---\n", "C# notes"),
        ('---\ntitle: "Quoted: \\"so\\"" # c\n---\n', 'Quoted: "so"'),
        ("---\ntitle: 'It''s'\n---\n", "It's"),
        ("---\nTitle: Upper\n---\n", "Upper"),
        ("---\na: 1\r\ntitle: CRLF\r\n---\r\n", "CRLF"),
        ("---\rtitle: CR\r---\r", "CR"),
        ('+++\ntitle = "Toml"\n+++\n', "Toml"),
        ("---\ntitle: Dots\n...\n", "Dots"),
        ("---\ntags:\n  - a\n  title: inner\n---\n", ""),
        ("---\ntitle: >\n  folded\n---\n", ""),
        ("---\ntitle:\n---\n", ""),
        ("---\n---\n", ""),
        ("---\n# comment\nkey: 1\n---", ""),
    ],
)
def test_front_matter_ends_where_the_body_begins(source: str, title: str) -> None:
    found = front_matter(source + "body")
    if source.endswith("---"):
        assert found is None  # "---body" closes nothing
        found = front_matter(source)
    assert found is not None
    assert found.end == len(source)
    assert found.title == title


@pytest.mark.parametrize(
    "source",
    [
        "",
        "text\n---\nkey: 1\n---\n",
        "---\nkey: 1\nnever closed\n",
        "\n---\nkey: 1\n---\n",
        "----\nkey: 1\n----\n",
        "---\nA first paragraph between two rules\n\n---\n",
        "+++\ntitle = 1\n---\n",
    ],
)
def test_what_only_looks_like_front_matter_is_text(source: str) -> None:
    assert front_matter(source) is None
