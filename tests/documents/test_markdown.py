"""Markdown: what is a heading, what is a block, what carries no words, what is never quoted."""

from __future__ import annotations

import pytest

from ragchat.documents.document import Document
from tests.documents.laws import check_laws, read, words


def paths(document: Document) -> list[tuple[str, ...]]:
    return [section.path for section in document.sections]


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, words(document, block)) for block in document.blocks]


def heard(source: str) -> str:
    """What is left of a text without its silent ranges."""
    document = read(source)
    check_laws(document)
    text = list(document.text)
    for span in document.silent:
        text[span.start : span.end] = [""] * (span.end - span.start)
    return "".join(text)


def test_sections_carry_the_full_path() -> None:
    document = read("before\n\n# A\n\n### B\n\ntext\n\n## C ##\n\n# D\n")
    assert paths(document) == [(), ("A",), ("A", "B"), ("A", "C"), ("D",)]
    assert words(document, document.sections[3]) == "## C ##\n\n"
    assert document.text[document.sections[2].start : document.sections[2].body_start] == "### B\n"


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_hash_signs_in_code_and_front_matter_are_no_headings(line_end: str) -> None:
    source = "---\n# comment\nkey: 1\n---\n```\n# code\n```\n\n    # indented\n\nSetext *two*\n===\nx\n"
    document = read(source.replace("\n", line_end))
    assert paths(document) == [(), ("Setext two",)]
    assert words(document, document.excluded[0]) == line_end.join(["---", "# comment", "key: 1", "---", ""])


def test_headings_inside_a_list_or_a_quotation_begin_no_section() -> None:
    document = read("- # in a list\n\n> # in a quote\n")
    assert paths(document) == [()]
    assert blocks(document) == [("list_item", "- # in a list"), ("quote", "> # in a quote")]


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("# **Bold** and `code`", "Bold and code"),
        ("# [Link](https://x.y 'title') {#anchor}", "Link"),
        ("# ![Alt](x.png) &amp; [[Page|shown]]", "Alt & shown"),
        ("# [Known]", "Known"),
        ("# Two <b>tags</b>", "Two tags"),
        ("# a\x1b[2Jb \x07 \u202e c", "a[2Jb c"),
        ("# 日本語　見出し", "日本語 見出し"),
        ("# C# and F#", "C# and F#"),
    ],
)
def test_a_heading_is_plain_words(heading: str, label: str) -> None:
    document = read(f"{heading}\n\n[known]: https://x.y\n")
    assert paths(document) == [(label,)]
    assert document.title == label


def test_a_paragraph_above_a_rule_is_text_where_it_is_too_long_for_a_heading() -> None:
    paragraph = "Nobody would call a whole paragraph a heading. " * 8
    document = read(f"{paragraph}\n---\n\nmore\n")
    assert paths(document) == [()]
    assert document.blocks[0].kind == "paragraph"


def test_the_title_is_front_matter_then_heading_then_name() -> None:
    assert read("---\ntitle: Front\n---\n# Head\n").title == "Front"
    assert read("text\n\n## Head\n").title == "Head"
    assert read("text\n", "folder/My note.v2.md").title == "My note.v2"


def test_blocks_are_leaves() -> None:
    source = (
        "- one\n  - inner\n\n    more of it\n\n1. first\n2. second\n\n> quoted\n>\n> again\n\n"
        "| N | M |\n|---|---|\n| 1 | 2 |\n\n```mermaid\ngraph TD\n```\n\n    indented\n\n<div>\nraw\n</div>\n"
    )
    document = read(source)
    assert blocks(document) == [
        ("list_item", "- one"),
        ("list_item", "- inner"),
        ("list_item", "more of it"),
        ("list_item", "1. first"),
        ("list_item", "2. second"),
        ("quote", "> quoted\n>"),
        ("quote", "> again"),
        ("table", "| N | M |\n|---|---|\n| 1 | 2 |"),
        ("code", "```mermaid\ngraph TD\n```"),
        ("code", "indented"),
        ("html", "<div>\nraw\n</div>"),
    ]
    table = document.blocks[7]
    assert table.header is not None
    assert words(document, table.header) == "| N | M |"


def test_outlines_nest_deep() -> None:
    source = "\n".join("  " * depth + f"- level {depth}" for depth in range(30))
    assert [text for _, text in blocks(read(source))] == [f"- level {depth}" for depth in range(30)]


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ('see [the label](https://x.y/a_(b) "a title").', "see the label."),
        ("[label](<a b.md>) and [label]( x )", "label and label"),
        ("![alt words](pic.png) text", "alt words text"),
        ("[![badge](b.svg)](https://ci)", "badge"),
        ("[full][r] [r][] [r] [unknown] [x][nope]\n\n[r]: u", "full r r [unknown] [x][nope]\n\n"),
        ("[[Page]] [[Page|shown]] ![[embed.png|300]]", "Page shown "),
        ("a <b class='x'>bold</b><br/> <!-- comment --> z", "a bold  z"),
        ("<https://a.b> and https://c.d and <x@y.z>", "https://a.b and https://c.d and x@y.z"),
        ('{{< figure src="a" >}}one{{% note %}}two{% include x %}', "onetwo"),
        ("**bold** *it* __b__ _i_ ~~s~~ ***both***", "bold it b i s both"),
        ("2 * 3 * 4, snake_case_name, a ** b, 5*", "2 * 3 * 4, snake_case_name, a ** b, 5*"),
        ("a note[^1]\n\n[^1]: its *text* here", "a note\n\n its text here"),
        ("`[a](b) <i>` ``x ` **y**`` \\[a](b) \\`[c](d)\\`", "`[a](b) <i>` ``x ` **y**`` \\[a](b) \\`c\\`"),
        ("```\n[a](b) <i> **x**\n```", "```\n[a](b) <i> **x**\n```"),
        ("| a | b |\n|:--|--:|\n| [x](y) | 2 |", "| a | b |\n\n| x | 2 |"),
        ("above\n\n***\n\nbelow", "above\n\n\n\nbelow"),
        ("<div>\n<img src='x' alt='y'> raw <script>var a;</script>\n</div>", "\n raw \n"),
        ("text <?php x ?> more <!DOCTYPE y>", "text  more "),
        ("[a\nb](c\n'd')", "a\nb"),
        ("x < y and a<b, <- arrow, 1 <2> 3", "x < y and a<b, <- arrow, 1 <2> 3"),
        ("- [ ] open task\n- [x] done", "- [ ] open task\n- [x] done"),
        ("{ not } {{ value }} (brackets) [plain]", "{ not } {{ value }} (brackets) [plain]"),
    ],
)
def test_what_carries_no_words_is_silent(source: str, left: str) -> None:
    assert heard(source) == left


def test_a_comment_that_stands_alone_is_never_quoted() -> None:
    document = read("before\n\n<!-- one\n\n# no heading\n-->\n<!-- two -->\n\nafter <!-- inline --> it\n")
    assert [text for _, text in blocks(document)] == ["before", "after <!-- inline --> it"]
    assert paths(document) == [()]


def test_what_the_parser_drops_is_still_a_block() -> None:
    document = read("[ref]: https://x.y 'title'\n\n-\n\n>\n\n- a\n-\n- b\n")
    assert [text for _, text in blocks(document)] == ["[ref]: https://x.y 'title'", "-", ">", "- a\n-", "- b"]


def test_line_breaks_that_only_python_knows_end_no_line() -> None:
    document = read("# A\x0bB\x0cC\n\none\u2028# two\x85# three\n")
    assert paths(document) == [("A B C",)]
    assert blocks(document)[1] == ("paragraph", "one\u2028# two\x85# three")
