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
_TAGS = tuple(f"<{slash}{name}>" for slash in ("", "/") for name in _NAMES)
_TAG = re.compile(rf"<(?P<slash>/?)(?:{'|'.join(_NAMES)})>", re.IGNORECASE)


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
        self._before = ""
        self._thinks = False
        self._begun = False

    def feed(self, piece: str) -> Iterator[Part]:
        """What is certain so far; an end that may be the beginning of a tag is held back."""
        yield from self._sort(self._held + piece, final=False)

    def finish(self) -> Iterator[Part]:
        """What was still held."""
        yield from self._sort(self._held, final=True)

    def _sort(self, text: str, *, final: bool) -> Iterator[Part]:
        while tag := self._first_tag(text, final=final):
            yield from self._part(text[: tag.start()])
            yield from self._switch(closes=bool(tag["slash"]))
            self._before, text = ">", text[tag.end() :]
        certain = len(text) if final else len(text) - _begun_tag(text)
        if not final and self._waits_for_backtick(text):
            certain = text.rindex("<")
        self._held = text[certain:]
        yield from self._part(text[:certain])
        self._before = text[:certain][-1:] or self._before

    def _first_tag(self, text: str, *, final: bool) -> re.Match[str] | None:
        """The first tag that takes effect, whatever comes after this text."""
        for tag in _TAG.finditer(text):
            undecided = not final and tag.end() == len(text)
            if self._thinks:
                if tag["slash"]:
                    return tag
            elif not (self._after_backtick(text, tag) and (undecided or text[tag.end() :].startswith("`"))):
                return tag
        return None

    def _waits_for_backtick(self, text: str) -> bool:
        """Whether it ends in a tag behind a backtick: between two, somebody is writing about tags."""
        last = next((tag for tag in _TAG.finditer(text) if tag.end() == len(text)), None)
        return last is not None and not self._thinks and self._after_backtick(text, last)

    def _after_backtick(self, text: str, tag: re.Match[str]) -> bool:
        return (text[: tag.start()][-1:] or self._before) == "`"

    def _switch(self, *, closes: bool) -> Iterator[Part]:
        if closes and not self._thinks and self._begun:
            self._begun = False
            yield Part("answer", "", restarts=True)
        self._thinks = not closes

    def _part(self, text: str) -> Iterator[Part]:
        if not self._thinks and not self._begun:
            text = text.lstrip()
        if text:
            self._begun = self._begun or not self._thinks
            yield Part("thinking" if self._thinks else "answer", text)


def _begun_tag(text: str) -> int:
    """How many characters at the end may be the beginning of a tag."""
    at = text.rfind("<")
    end = text[at:].lower()
    return len(end) if at >= 0 and any(tag.startswith(end) and tag != end for tag in _TAGS) else 0
