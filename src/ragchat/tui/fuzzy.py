"""Finds names as one types: all words in them first, then the letters in their order."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from typing import NamedTuple

_ENOUGH = 8
"""With so many that hold the words, nobody looks for scattered letters."""


class Match(NamedTuple):
    """at: which name. score: higher is better. letters: where in the name the typed ones stand."""

    score: float
    at: int
    letters: tuple[int, ...]


def best(typed: str, names: Sequence[str], limit: int) -> list[Match]:
    """The best matches, best first; of equals, the first. names: casefolded. Linear in their length."""
    words = typed.casefold().split()
    if not words:
        return []
    found = [
        Match(_score(words, name), at, ())
        for at, name in enumerate(names)
        if all(word in name for word in words)
    ]
    top = heapq.nsmallest(limit, found, key=lambda match: (-match.score, match.at))
    if len(top) < _ENOUGH:
        known = {match.at for match in found}
        letters = "".join(words)
        scattered = [
            Match(-_spread(places), at, places)
            for at, name in enumerate(names)
            if at not in known and (places := _in_order(letters, name)) and _is_close(places)
        ]
        top += heapq.nsmallest(limit - len(top), scattered, key=lambda match: (-match.score, match.at))
    return [
        match if match.letters else match._replace(letters=_letters(words, names[match.at])) for match in top
    ]


def _score(words: Sequence[str], name: str) -> float:
    """At a word's beginning is better, early is better, a short name is better."""
    score = 1000.0 - len(name) / 10
    for word in words:
        at = name.find(word)
        begins = at == 0 or not name[at - 1].isalnum()
        score += (100 if begins else 0) - min(at, 90)
    return score


def _letters(words: Sequence[str], name: str) -> tuple[int, ...]:
    places = (range(at, at + len(word)) for word in words if (at := name.find(word)) >= 0)
    return tuple(sorted({letter for place in places for letter in place}))


def _in_order(letters: str, name: str) -> tuple[int, ...]:
    """Where the letters stand one after another; () when they do not."""
    places: list[int] = []
    at = -1
    for letter in letters:
        at = name.find(letter, at + 1)
        if at < 0:
            return ()
        places.append(at)
    return tuple(places)


def _is_close(places: tuple[int, ...]) -> bool:
    """Letters strewn over a whole line are no abbreviation of it."""
    return places[-1] - places[0] < 4 * len(places)


def _spread(places: tuple[int, ...]) -> float:
    gaps = sum(after - before > 1 for before, after in itertools.pairwise(places))
    return (places[-1] - places[0]) + 10 * gaps + places[0] / 10
