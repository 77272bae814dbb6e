"""Model output as Markdown in which nothing can be clicked but our own citations.

A screen gives `answer_parser` to its Markdown widget: links, images, HTML and bare addresses stay plain text,
and each `[n]` that has a source becomes a link to `SOURCE_LINK + n`. The recognition is the parser's own, so
a mark in code is never a citation, in any block, and half an answer reads as a whole one does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

SOURCE_LINK = "ragchat-source:"

_OPEN, _CLOSE = "[\\[【［]", "[\\]】］]"
_NUMBER = r"\^?\d{1,6}"
_ITEM = rf"{_NUMBER}(?:[ \t]{{0,3}}[-–—~〜][ \t]{{0,3}}{_NUMBER})?"
_SEPARATOR = r"[ \t]{0,3}[,，、;；][ \t]{0,3}"
MARK = re.compile(
    rf"(?<!\\){_OPEN}[ \t]{{0,3}}(?P<items>{_ITEM}(?:{_SEPARATOR}{_ITEM})*)[ \t]{{0,3}}"
    rf"(?:†[^\]】］\n]{{0,40}})?{_CLOSE}(?!\([^()\n]*\))"
)
"""A citation as models write it: `[1]`, `[1, 2]`, `[1-3]`, `【1】`, `[^1]`; never `[1](address)`."""

_SINGLE_OR_RANGE = re.compile(r"(\d+)(?:[ \t]*[-–—~〜][ \t]*\^?(\d+))?")
_PRIVATE_USE = range(0xE000, 0xF900)


def mark_numbers(items: str, sources: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(numbers that have a source, numbers that have none) of a mark's inside, in order, once each."""
    numbers: list[int] = []
    for found in _SINGLE_OR_RANGE.finditer(items):
        first, last = int(found[1]), int(found[2] or found[1])
        first, last = min(first, last), max(first, last)
        numbers += [first, *range(first + 1, min(last, sources + 1)), last]
    once = dict.fromkeys(numbers)
    return tuple(n for n in once if 1 <= n <= sources), tuple(n for n in once if not 1 <= n <= sources)


def code_blocks(text: str) -> list[str]:
    """The insides of an answer's code blocks, in order, without their fences."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt().parse(text)
    return [token.content.removesuffix("\n") for token in tokens if token.type in ("fence", "code_block")]


def answer_parser(sources: int = 0) -> MarkdownIt:
    """A parser for the answer to a question with so many sources."""
    parser = _linkless_parser()

    def citation(state: StateInline, silent: bool) -> bool:
        found = MARK.match(state.src, state.pos)
        if found is None or found.end() > state.posMax:
            return False
        if not silent:
            _push_mark(state, found, sources)
        state.pos = found.end()
        return True

    for opening in "【［":
        parser.inline.add_terminator_char(opening)
    parser.inline.ruler.before("emphasis", "citation", citation)
    return parser


def outside_code(text: str, found: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """Those matches that a Markdown reader sees as words: not in a code span, a fence or its info line.

    The matches must not overlap nor hold a backtick or a line end.
    """
    if not found:
        return []
    # Each is replaced by a name no text holds; where the names turn up in the parsed tokens is the answer.
    guard = next((chr(code) for code in _PRIVATE_USE if chr(code) not in text), None)
    if guard is None:
        return []
    named, end = "", 0
    for index, match in enumerate(found):
        named += f"{text[end : match.start()]}{guard}{index}{guard}"
        end = match.end()
    words = _words(_linkless_parser().parse(named + text[end:]))
    seen = {int(name) for part in words for name in re.findall(rf"{guard}(\d+){guard}", part)}
    return [match for index, match in enumerate(found) if index in seen]


def _linkless_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return parser.disable(["link", "image", "autolink", "html_inline", "html_block", "reference"])


def _words(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "text":
            yield token.content
        yield from _words(token.children or ())


def _push_mark(state: StateInline, found: re.Match[str], sources: int) -> None:
    """`[1, 7]` as text and one link for each number that has a source."""
    end = found.start()
    for number in re.finditer(r"\d+", found["items"]):
        start = found.start("items") + number.start()
        if 1 <= int(number[0]) <= sources:
            _push_text(state, state.src[end:start])
            state.push("link_open", "a", 1).attrs = {"href": f"{SOURCE_LINK}{int(number[0])}"}
            _push_text(state, number[0])
            state.push("link_close", "a", -1)
            end = found.start("items") + number.end()
    _push_text(state, state.src[end : found.end()])


def _push_text(state: StateInline, content: str) -> None:
    if content:
        state.push("text", "", 0).content = content
