"""Ranges as sets: joined, taken from each other, trimmed of blanks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ragchat.documents.document import Block, Span

Item = TypeVar("Item")


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same ranges in order, overlapping and touching ones made one, empty ones left out."""
    result: list[Span] = []
    for span in sorted(spans):
        if span.start >= span.end:
            continue
        if result and span.start <= result[-1].end:
            result[-1] = Span(result[-1].start, max(result[-1].end, span.end))
        else:
            result.append(span)
    return result


def trimmed(text: str, start: int, end: int) -> Span:
    """The range without the blanks at its ends; empty where there is nothing else."""
    piece = text[start:end]
    stripped = piece.lstrip()
    first = start + len(piece) - len(stripped)
    return Span(first, first + len(stripped.rstrip()))


def subtract(spans: Iterable[Span], holes: Sequence[Span]) -> list[Span]:
    """What of the ranges lies in no hole. Both are in order and not overlapping among themselves."""
    return [Span(start, end) for span, start, end in _pieces(((span, span) for span in spans), holes)]


def cut_blocks(text: str, blocks: Iterable[Block], holes: Sequence[Span]) -> list[Block]:
    """The blocks, cut where a hole lies in one, trimmed, and never empty."""
    result: list[Block] = []
    for block, start, end in _pieces(((block, Span(block.start, block.end)) for block in blocks), holes):
        span = trimmed(text, start, end)
        if span.start < span.end:
            result.append(replace(block, start=span.start, end=span.end))
    return result


def _pieces(items: Iterable[tuple[Item, Span]], holes: Sequence[Span]) -> Iterator[tuple[Item, int, int]]:
    first = 0
    for item, span in items:
        while first < len(holes) and holes[first].end <= span.start:
            first += 1
        at, index = span.start, first
        while index < len(holes) and holes[index].start < span.end:
            if at < holes[index].start:
                yield item, at, holes[index].start
            at = max(at, holes[index].end)
            index += 1
        if at < span.end:
            yield item, at, span.end
