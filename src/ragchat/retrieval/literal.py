"""Find a rare name or identifier of the question that stands word for word in a note.

An encoder knows no `E1234`: it may put the very note that explains it out of reach. So after a refusal by
distance the words themselves are looked up, and the passage is offered. It is never sent unasked. The same
holds for keywords, which it places little better: who types `descaling` alone wants the note that says it.

Only a refusal puts such a passage first. Where something was near enough, the fused order stands: a rare name
in front of it cost more first places than it won (17 won, 25 lost over three corpora).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragchat.chunking.chunk import Chunk
from ragchat.index.protocol import Scope, Snapshot
from ragchat.index.tokens import tokenize
from ragchat.retrieval.identifiers import (
    Term,
    after_title,
    begins_sentence,
    is_letter,
    keywords_of,
    terms_of,
    written_without_spaces,
)
from ragchat.retrieval.words import ASKING_WORDS

_MORE_DIGITS = re.compile(r"[.,]\d")


@dataclass(frozen=True, slots=True)
class Found:
    """term: as the question writes it. chunk_ids: passages that hold it, those with most terms first."""

    term: str
    chunk_ids: tuple[int, ...]


def find_literal(
    question: str, snapshot: Snapshot, scope: Scope, count_tokens: Callable[[str], int]
) -> Found | None:
    """The rarest identifier of the question that stands in a passage of the scope, else its rarest keyword.

    Rare: an identifier in at most one passage of a hundred, or in three; a keyword, beside which nothing
    could tell more, in one of twenty, or in five.
    """
    total = snapshot.chunk_count
    terms = terms_of(question, count_tokens)
    if found := _rarest(terms, snapshot, scope, max(3, total // 100)):
        return found
    return _rarest(keywords_of(question, ASKING_WORDS), snapshot, scope, max(5, total // 20))


def _rarest(terms: Sequence[Term], snapshot: Snapshot, scope: Scope, at_most: int) -> Found | None:
    held = {term.text: _holders(term, snapshot, scope, at_most) for term in terms}
    held = {term: chunk_ids for term, chunk_ids in held.items() if chunk_ids}
    if not held:
        return None
    rarest = min(held, key=lambda term: (len(held[term]), -len(term)))

    def terms_beside(chunk_id: int) -> int:
        return sum(chunk_id in chunk_ids for chunk_ids in held.values())

    return Found(rarest, tuple(sorted(held[rarest], key=terms_beside, reverse=True)))


def _holders(term: Term, snapshot: Snapshot, scope: Scope, at_most: int) -> list[int]:
    """Passages in which the term stands as its case demands; none where it is not rare."""
    frequency = {token: snapshot.document_frequency(token) for token in tokenize(term.text)}
    if not frequency or not all(frequency.values()):
        return []
    rarest = min(frequency, key=lambda token: frequency[token])
    if frequency[rarest] > at_most:
        return []
    chunk_ids = snapshot.containing(rarest, scope, at_most)
    chunks = dict(zip(chunk_ids, snapshot.chunks(chunk_ids), strict=True))
    uses = {chunk_id: list(_uses(term, chunk)) for chunk_id, chunk in chunks.items()}
    if not _stands_as_it_must(term, [use for found in uses.values() for use in found]):
        return []
    return [chunk_id for chunk_id, found in uses.items() if found]


@dataclass(frozen=True, slots=True)
class _Use:
    """One place where a term stands. inside: its capital, if any, comes from no sentence, line or heading."""

    text: str
    inside: bool


def _uses(term: Term, chunk: Chunk) -> Iterator[_Use]:
    content = _straight(chunk.content)
    for match in _standing(term, content):
        before = content[: match.start()]
        yield _Use(match.group(), after_title(before) or not begins_sentence(before))
    for match in _standing(term, _straight("\n".join((chunk.title, *chunk.section)))):
        yield _Use(match.group(), inside=False)


def _standing(term: Term, text: str) -> Iterator[re.Match[str]]:
    """Where it stands in the text, and not within another word.

    Hendrick is not Hendricks, 20.04 is not 20.04.1. The letters around are looked at here: a pattern that
    names the scripts takes longer to compile than all else that follows a refusal.
    """
    words = r"\s+".join(re.escape(word) for word in _straight(term.text).split())
    found = re.compile(words, 0 if term.case == "capitals" else re.IGNORECASE)
    anywhere = written_without_spaces(term.text)
    at = 0
    while match := found.search(text, at):
        start, end = match.span()
        at = start + 1
        if anywhere or not (is_letter(text[start - 1 : start]) or _goes_on(text, end)):
            yield match
            at = max(at, end)


def _goes_on(text: str, end: int) -> bool:
    """Whether the word or number that ends here does not."""
    return is_letter(text[end : end + 1]) or _MORE_DIGITS.match(text, end) is not None


def _straight(text: str) -> str:
    """Compatibility forms folded, and the apostrophe of printers with that of keyboards."""
    return unicodedata.normalize("NFKC", text).replace("’", "'")


def _stands_as_it_must(term: Term, uses: list[_Use]) -> bool:
    """A word that some passage has in lower case is an ordinary word there, and so everywhere."""
    if term.case in ("any", "capitals"):
        return True
    capitalised = all(use.text[0].isupper() for use in uses)
    return capitalised and (term.case == "name" or any(use.inside for use in uses))
