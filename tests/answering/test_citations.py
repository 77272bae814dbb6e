"""The program attaches every reference, and nothing else in an answer can be clicked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from ragchat.answering.citations import attach_citations, link_citations, plain_links
from ragchat.answering.markdown import SOURCE_LINK, answer_parser

FRAGMENTS = [
    "[1]", "[2]", "[9]", "[1, 2]", "[1-2]", "【2】", "[^1]", "(1)", "`", "``", "```\n", "\n", "\n\n", "> ",
    "- ", "    ", "[", "]", "(", ")", "](", "]: ", "http://evil.example", "www.evil.example", "a@b.example",
    "<", ">", "<http://evil.example>", "\\", "| a | b |\n|---|---|\n", "|", "word ", "*", "~~", "!", "&lt;",
    "<b>", "mailto:",
]  # fmt: skip
ANSWERS = st.lists(st.sampled_from(FRAGMENTS), max_size=16).map("".join)


def tokens_of(parser: MarkdownIt, text: str) -> Iterator[Token]:
    def walk(tokens: Sequence[Token]) -> Iterator[Token]:
        for token in tokens:
            yield token
            yield from walk(token.children or ())

    return walk(parser.parse(text))


def clickable(text: str) -> list[str]:
    """Every address that a reader with all of Markdown switched on would offer, and every piece of HTML."""
    tokens = list(tokens_of(MarkdownIt("gfm-like"), text))
    links = [
        str(t.attrs.get("href") or t.attrs.get("src")) for t in tokens if t.type in ("link_open", "image")
    ]
    return links + [token.content for token in tokens if token.type in ("html_inline", "html_block")]


@pytest.mark.parametrize(
    ("text", "numbers", "invalid"),
    [
        ("It ends [1].", [1], []),
        ("It ends [1, 2] or [1][2].", [1, 2, 1, 2], []),
        ("All [1-3] say so.", [1, 2, 3], []),
        ("All [1–3], [3-1].", [1, 2, 3, 1, 2, 3], []),
        ("終わる【1】。", [1], []),
        ("終わる［１］。【２、３】", [1, 2, 3], []),
        ("It ends[^1], [^1, ^2].", [1, 1, 2], []),
        ("It ends 【1†source】.", [1], []),
        ("No such source [7], [0], [2-9].", [2, 3], [7, 0, 9]),
        ("Not (1), not [x], not [], not [1a], not [1.5].", [], []),
        ("Not `list[1]` nor ``a ` [2]``.", [], []),
        ("```py\nlist[1]\n```\nbut [2]", [2], []),
        ("~~~\n[1]\n", [], []),
        ("- `a`\n- b [1]\n\n  ```\n  [2]\n  ```\n", [1], []),
        ("> quoted [1]\n\n| a | b |\n|---|---|\n| [2] | `[3]` |", [1, 2], []),
        ("An unclosed ` tick [1].", [1], []),
        ("[1](http://evil.example) is no reference.", [], []),
        ("[1] (see there), [2](", [1, 2], []),
        ("[" + "1" * 5000 + "]", [], []),
    ],
)
def test_forms_that_models_write(text: str, numbers: list[int], invalid: list[int]) -> None:
    citations = attach_citations(text, 3)
    assert [n for citation in citations for n in citation.numbers] == numbers
    assert [n for citation in citations for n in citation.invalid] == invalid


@given(ANSWERS)
def test_a_citation_is_a_mark_in_the_text_and_names_only_sources_that_exist(text: str) -> None:
    end = 0
    for citation in attach_citations(text, 3):
        assert end <= citation.start < citation.end <= len(text)
        assert text[citation.start] in "[【"
        assert text[citation.end - 1] in "]】"
        assert all(1 <= number <= 3 for number in citation.numbers)
        assert all(not 1 <= number <= 3 for number in citation.invalid)
        end = citation.end


@given(ANSWERS)
def test_the_screens_parser_links_exactly_the_citations(text: str) -> None:
    links = [str(t.attrs["href"]) for t in tokens_of(answer_parser(3), text) if t.type == "link_open"]
    assert all(link.startswith(SOURCE_LINK) for link in links)
    attached = {number for citation in attach_citations(text, 3) for number in citation.numbers}
    assert {int(link.removeprefix(SOURCE_LINK)) for link in links} == attached
    assert not [
        t for t in tokens_of(answer_parser(3), text) if t.type in ("image", "html_inline", "html_block")
    ]


@given(ANSWERS)
def test_nothing_the_model_writes_is_clickable_elsewhere(text: str) -> None:
    assert clickable(plain_links(text)) == []


@given(ANSWERS)
def test_in_linked_markdown_only_the_citations_are_clickable(text: str) -> None:
    linked = link_citations(text, attach_citations(text, 3), lambda number: f"file:///notes/{number}.md")
    allowed = {f"file:///notes/{number}.md" for number in (1, 2, 3)}
    assert set(clickable(linked)) <= allowed


@pytest.mark.parametrize(
    "text",
    [
        "[click](http://evil.example)",
        "![x](http://evil.example/p.png)",
        "<http://evil.example>",
        "http://evil.example and www.evil.example and me@evil.example",
        "[a][b]\n\n[b]: http://evil.example",
        "<a href='http://evil.example'>x</a>",
        "| `[x](http://evil.example) | ` |\n|---|---|",
        "`a\n` [x](http://evil.example) `",
        "\\<http://evil.example>",
        "http&#58;//evil.example",
    ],
)
def test_links_that_a_model_writes_are_plain_text(text: str) -> None:
    assert clickable(plain_links(text)) == []


def test_code_keeps_its_characters() -> None:
    assert plain_links("Use `a[0](x)` or\n```\n<b>[1](x)\n```") == "Use `a[0](x)` or\n```\n<b>[1](x)\n```"
