"""Find what carries no words inside a Markdown block: link targets, image syntax, tags, shortcodes, markers.

markdown-it gives no offsets below the block, so the raw text is scanned here, left to right, with code spans
and escapes stepped over first. Every step is found in the text. Each construct is sought at most once per
place it may begin, so a hostile line costs time in proportion to its length.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container

from markdown_it.common.utils import normalizeReference

from ragchat.documents.document import Span
from ragchat.documents.spans import merged

_MARK = re.compile(
    r"\\.|`+|<|!?\[\[|!?\[|\]|\{\{[<%]|\{%|\*+|_+|~~",
    re.DOTALL,
)
_TAG = re.compile(
    r"</?[A-Za-z][A-Za-z0-9-]*+"
    r"(?:\s++[A-Za-z_:@][\w.:@-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`{]++|'[^']*+'|\"[^\"]*+\"|\{[^{}]*+\}))?+)*+"
    r"\s*+/?>|<[?!][A-Za-z][^<>]*+>"
)
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9.+-]{1,31}:[^\s<>]*+|[^\s<>@]++@[^\s<>@]++)>")
_NESTED = r"[^\s()\\]++|\\."
for _ in range(3):
    _NESTED = rf"[^\s()\\]++|\\.|\((?:{_NESTED})*+\)"
_TITLE = r"\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|\((?:[^()\\]++|\\.)*+\)"
_TARGET = re.compile(rf"\]\(\s*+(?:<[^<>\r\n]*+>|(?:{_NESTED})*+)(?:\s++(?:{_TITLE}))?+\s*+\)", re.DOTALL)
_REFERENCE = re.compile(r"\]\[([^\[\]]{0,999}+)\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,99}+\]:?")
_WIKI = re.compile(r"(!?\[\[)(?:[^\[\]|\r\n]*+\|)?+([^\[\]|\r\n]*+)(?:\|[^\[\]\r\n]*+)?\]\]")
_SHORTCODE_ENDS = {"{{<": ">}}", "{{%": "%}}", "{%": "%}"}
_LONGEST_LABEL = 999


def silent_in_markdown(text: str, start: int, end: int, references: Container[str]) -> list[Span]:
    """Ranges without words in one block of running text, `text[start:end]`, in order.

    references: the labels that have a definition, as `normalizeReference` writes them.
    """
    return _Scan(text, start, end, references).spans()


def silent_in_html(text: str, start: int, end: int) -> list[Span]:
    """Ranges of tags and comments in a block of raw HTML, scripts and styles whole, in order."""
    found = [Span(*match.span()) for match in _HTML_MARKUP.finditer(text, start, end)]
    return merged(found)


_HTML_MARKUP = re.compile(
    rf"<(script|style)\b[^<>]*+>(?:(?!</\1).)*+(?:</\1\s*+>)?+|<!--(?:(?!-->).)*+(?:-->)?+|{_TAG.pattern}",
    re.DOTALL | re.IGNORECASE,
)


class _Scan:
    """One pass over one block."""

    def __init__(self, text: str, start: int, end: int, references: Container[str]) -> None:
        self._text, self._start, self._end = text, start, end
        self._references = references
        self._found: list[Span] = []
        self._brackets: list[Span] = []
        self._emphasis: dict[str, list[Span]] = defaultdict(list)
        self._absent: set[str] = set()
        self._ticks: dict[int, list[int]] | None = None

    def spans(self) -> list[Span]:
        at = self._start
        while (mark := _MARK.search(self._text, at, self._end)) is not None:
            at = self._step(mark.group(), mark.start(), mark.end())
        return merged(self._found)

    def _step(self, mark: str, start: int, end: int) -> int:
        """Take one mark; return where to go on."""
        match mark[0]:
            case "`":
                return self._behind_code(start, end)
            case "<":
                return self._markup(start)
            case "{":
                closing = self._find(_SHORTCODE_ENDS[mark], end)
                return self._drop(start, closing) if closing else end
            case "]":
                return self._close_bracket(start)
            case "[" | "!":
                return self._open_bracket(mark, start, end)
            case "*" | "_" | "~":
                self._emphasise(mark, start, end)
        return end

    def _drop(self, start: int, end: int) -> int:
        self._found.append(Span(start, end))
        return end

    def _find(self, closing: str, start: int) -> int:
        """Where the next `closing` ends, or 0. What was once not found is not sought again."""
        if closing in self._absent:
            return 0
        at = self._text.find(closing, start, self._end)
        if at < 0:
            self._absent.add(closing)
            return 0
        return at + len(closing)

    def _behind_code(self, start: int, end: int) -> int:
        if self._ticks is None:
            self._ticks = defaultdict(list)
            for run in re.compile(r"`+").finditer(self._text, start, self._end):
                self._ticks[run.end() - run.start()].append(run.start())
        same = self._ticks[end - start]
        following = bisect_left(same, end)
        return same[following] + (end - start) if following < len(same) else end

    def _markup(self, start: int) -> int:
        if self._text.startswith("<!--", start, self._end):
            closing = self._find("-->", start + 4)
            return self._drop(start, closing) if closing else start + 4
        if link := _AUTOLINK.match(self._text, start, self._end):
            self._drop(start, start + 1)
            return self._drop(link.end() - 1, link.end())
        if tag := _TAG.match(self._text, start, self._end):
            return self._drop(start, tag.end())
        return start + 1

    def _open_bracket(self, mark: str, start: int, end: int) -> int:
        if mark.endswith("[["):
            wiki = _WIKI.match(self._text, start, self._end)
            if wiki is None:
                self._brackets += [Span(start, end - 1), Span(end - 1, end)]
                return end
            if mark.startswith("!"):
                return self._drop(start, wiki.end())
            self._drop(start, wiki.start(2))
            return self._drop(wiki.end(2), wiki.end())
        if mark == "[" and (note := _FOOTNOTE.match(self._text, start, self._end)):
            return self._drop(start, note.end())
        self._brackets.append(Span(start, end))
        return end

    def _close_bracket(self, at: int) -> int:
        if not self._brackets:
            return at + 1
        opening = self._brackets.pop()
        closing = self._end_of_target(opening, at)
        if not closing:
            return at + 1
        self._drop(opening.start, opening.end)
        return self._drop(at, closing)

    def _end_of_target(self, opening: Span, at: int) -> int:
        """Where the link or image ends whose words end at `at`; 0 where the brackets are just brackets."""
        if target := _TARGET.match(self._text, at, self._end):
            return target.end()
        label = self._text[opening.end : at] if at - opening.end <= _LONGEST_LABEL else ""
        if reference := _REFERENCE.match(self._text, at, self._end):
            is_image = self._text[opening.start] == "!"
            if is_image or self._is_defined(reference.group(1) or label):
                return reference.end()
        return at + 1 if self._is_defined(label) else 0

    def _is_defined(self, label: str) -> bool:
        return bool(label.strip()) and normalizeReference(label) in self._references

    def _emphasise(self, mark: str, start: int, end: int) -> None:
        before = self._text[start - 1] if start > self._start else " "
        after = self._text[end] if end < self._end else " "
        opens = not after.isspace() and (
            not _is_punctuation(after) or before.isspace() or _is_punctuation(before)
        )
        closes = not before.isspace() and (
            not _is_punctuation(before) or after.isspace() or _is_punctuation(after)
        )
        if mark[0] == "_":
            opens, closes = (
                opens and (not closes or _is_punctuation(before)),
                closes and (not opens or _is_punctuation(after)),
            )
        if closes and self._emphasis[mark]:
            opening = self._emphasis[mark].pop()
            self._drop(opening.start, opening.end)
            self._drop(start, end)
        elif opens:
            self._emphasis[mark].append(Span(start, end))


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
