"""Lines made to be slow are read in proportion to their length, and lose nothing."""

from __future__ import annotations

import time

import pytest

from tests.documents.laws import check_laws, read

N = 5_000
HOSTILE = {
    "brackets": "[" * N,
    "images": "![" * N,
    "links": "[a](" * N,
    "angle links": "](<" * N,
    "titles": '[a](b "' * N,
    "parentheses": "[a](" + "(" * N + ")" * N + ")",
    "less": "<" * N,
    "comments": "<!--" * N,
    "tags": "<a x='" * N,
    "attributes": "<a" + " b" * N,
    "ticks": "".join("`" * (n % 200 + 1) + "a" for n in range(2_000)),
    "stars": "**a **" * N,
    "quotes": ">" * N,
    "lists": "- " * N + "x",
    "shortcodes": "{{< " * N,
    "wiki": "[[a|" * N,
    "definitions": "[a]: <" * N,
    "data": "data:a" + ";x=y" * N,
    "long words": ("A1b" * 170 + " ") * 500,
    "one line": "word " * 50_000,
    "table": "|a|b|\n|-|-|\n" + "|1|2|\n" * 3_000,
    "wide table": "|" + "a|" * 2_000 + "\n|" + "-|" * 2_000 + "\n|" + "1|" * 2_000,
    "deep quotes": "\n".join(">" * (n % 50) + " x" for n in range(500)),
    "open front matter": "---\n" + "a: b\n" * N,
}


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html"])
@pytest.mark.parametrize("kind", list(HOSTILE))
def test_hostile_lines_are_read_in_time(kind: str, name: str) -> None:
    begin = time.process_time()
    document = read(HOSTILE[kind], name)
    assert time.process_time() - begin < 3
    check_laws(document)
