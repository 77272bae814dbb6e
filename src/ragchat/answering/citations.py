"""The program attaches every reference; the model only ever writes `[n]`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ragchat.answering.events import Citation
from ragchat.answering.markdown import MARK, mark_numbers, outside_code

# Where Markdown, or a reader that turns bare addresses into links, would make something clickable.
_ESCAPED = r"\\[!-/:-@\[-`{-~]"
_LINK_SPOT = re.compile(
    rf"{_ESCAPED}|(?P<spot>"
    r"\](?=[(:\[])"  # [text](address), [text][name], [name]: address
    r"|<(?=[A-Za-z/!?])"  # <address>, <a href=…>
    r"|:(?=//)|(?<=mailto):|(?<=xmpp):"
    r"|(?<=[\w-])[.@](?=\w*[A-Za-z])"  # www.example.org, somebody@example.org
    r"|&(?=#?\w+;))",  # an entity may spell any of these
    re.IGNORECASE,
)


def attach_citations(text: str, sources: int) -> tuple[Citation, ...]:
    """Every mark in an answer to a question with so many sources, in order, invalid numbers set apart.

    `[1]`, `[1, 2]`, `[1][2]`, `[1-3]`, `【1】`, full-width digits, `[^1]`; not `(1)`, `[1](url)`, or in code.
    """
    return tuple(
        Citation(match.start(), match.end(), *mark_numbers(match["items"], sources))
        for match in outside_code(text, list(MARK.finditer(text)))
    )


def plain_links(text: str) -> str:
    """The Markdown with everything escaped that could become a link, so that it is read as it was written."""
    return link_citations(text, (), str)


def link_citations(text: str, citations: Iterable[Citation], target: Callable[[int], str]) -> str:
    """Markdown in which exactly the citations are links, number n to `target(n)`; invalid ones are struck.

    target: an address that may stand between `<` and `>` in Markdown.
    """
    changes = [(citation.start, citation.end, _linked(citation, target)) for citation in citations]
    marks = {position for start, end, _ in changes for position in range(start, end)}
    spots = [match for match in _LINK_SPOT.finditer(text) if match["spot"] and match.start() not in marks]
    changes += [(match.start(), match.end(), f"\\{match[0]}") for match in outside_code(text, spots)]
    return _replaced(text, sorted(changes))


def without_citations(text: str) -> str:
    """The words alone, as far as the marks look like ours."""
    return MARK.sub("", text)


def _linked(citation: Citation, target: Callable[[int], str]) -> str:
    links = [f"[\\[{number}\\]](<{target(number)}>)" for number in citation.numbers]
    return "".join([*links, *(f"~~\\[{number}\\]~~" for number in citation.invalid)])


def _replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    parts, end = [], 0
    for start, stop, new in changes:
        parts += [text[end:start], new]
        end = stop
    return "".join([*parts, text[end:]])
