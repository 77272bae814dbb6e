"""Keep a model's reasoning out of its answer, whatever tags it leaks and however the stream cuts them.

Models write `<think>…</think>` or `<thought>…</thought>` into the answer, leave the tag open, or close one
that the chat template had opened. In the last case what came before was reasoning after all, though it has
been shown: the filter then says so (`Part.restarts`), and the answer begins anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_NAMES = ("think", "thought", "thinking", "reasoning")
_OPENING = tuple(f"<{name}>" for name in _NAMES)
_CLOSING = tuple(f"</{name}>" for name in _NAMES)
_QUOTED = tuple(f"`{tag}`" for tag in (*_OPENING, *_CLOSING))
_NAME = "|".join(_NAMES)
# A tag between backticks is somebody writing about tags: it is matched first and left alone.
_IN_ANSWER = re.compile(rf"`</?(?:{_NAME})>`|<(?P<slash>/?)(?P<name>{_NAME})>", re.IGNORECASE)
_IN_THINKING = re.compile(rf"<(?P<slash>/)(?P<name>{_NAME})>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of the stream, sorted. restarts: all answer text before it was reasoning."""

    kind: Literal["answer", "thinking"]
    text: str
    restarts: bool = False


class ThinkingFilter:
    """Sorts one answer's pieces into answer and thinking, in order; drops the answer's leading blanks."""

    def __init__(self) -> None:
        self._held = ""
        self._thinks = False
        self._begun = False

    def feed(self, piece: str) -> Iterator[Part]:
        """What is certain so far; an end that may be the beginning of a tag is held back."""
        text = self._held + piece
        while text and (cut := self._first_tag(text)):
            start, end, closes = cut
            yield from self._part(text[:start])
            yield from self._switch(closes)
            text = text[end:]
        certain = len(text) - self._uncertain(text)
        self._held = text[certain:]
        yield from self._part(text[:certain])

    def finish(self) -> Iterator[Part]:
        """What was still held."""
        text, self._held = self._held, ""
        if cut := self._first_tag(text + "\n"):
            yield from self._part(text[: cut[0]])
            yield from self._switch(cut[2])
            text = text[cut[1] :]
        yield from self._part(text)

    def _first_tag(self, text: str) -> tuple[int, int, bool] | None:
        """(start, end, whether it closes) of the first tag that no later piece can change."""
        certain = len(text) - self._uncertain(text)
        pattern = _IN_THINKING if self._thinks else _IN_ANSWER
        tags = (found for found in pattern.finditer(text, 0, certain) if found["name"])
        found = next(tags, None)
        return found and (found.start(), found.end(), bool(found["slash"]))

    def _switch(self, closes: bool) -> Iterator[Part]:
        if closes and not self._thinks and self._begun:
            self._begun = False
            yield Part("answer", "", restarts=True)
        self._thinks = not closes

    def _uncertain(self, text: str) -> int:
        """How many characters at the end may be the beginning of a tag."""
        tags = _CLOSING if self._thinks else (*_QUOTED, *_OPENING, *_CLOSING)
        longest = min(len(text), max(map(len, tags)) - 1)
        ends = (text[len(text) - length :].lower() for length in range(longest, 0, -1))
        return next((len(end) for end in ends if any(_begins(tag, end) for tag in tags)), 0)

    def _part(self, text: str) -> Iterator[Part]:
        if not self._thinks and not self._begun:
            text = text.lstrip()
        if text:
            self._begun = self._begun or not self._thinks
            yield Part("thinking" if self._thinks else "answer", text)


def _begins(tag: str, end: str) -> bool:
    return len(end) < len(tag) and tag.startswith(end)
