"""Where the sentences of a text lie, as exact ranges, in time linear in its length.

A sentence that is not cut where it could be is longer, no more; one that is cut where it must not be can no
longer be quoted whole. So the rules are cautious: a stop ends a sentence only where nothing speaks against.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragchat.chunking.abbreviations import NEVER_BEFORE_NUMBER, NEVER_LAST, SOMETIMES_LAST, STARTERS
from ragchat.chunking.graphemes import begins_cluster

# Possessive repetitions: nothing is read twice, whatever the text.
_MARK = re.compile(
    r"""
      (?P<open>[「『（【〈《〔])
    | (?P<close>[」』）】〉》〕])
    | (?P<wide>[。！？｡．]++)(?P<wide_closers>[」』）】〉》〕"'”’)\]*_]*+)
    | (?P<stop>[.!?…‥।॥؟۔։።។]++)
      (?P<closers>(?:["'”’»›“)\]*_~`]|[ ](?:''|[)\]])|\[\^?\w{1,8}\])*+)
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*+")
_OPENERS = re.compile(r"""["'“‘„«‹(\[{*_`¿¡~]*+""")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_][\w’'\-]*+")
_LAST_WORD = re.compile(r"[\w§№][\w.’'\-]*\Z")
# `am 3. Oktober`, `der 2. Weltkrieg`; in English a number before a stop ends the sentence.
_BEFORE_ORDINAL = re.compile(
    r"\b(?:am|vom|zum|bis|ab|seit|im|der|die|das|dem|den|des|og|til) \Z", re.IGNORECASE
)
_LETTER_OR_ROMAN = re.compile(r"(?:[A-Z]|[IVXLC]++)\b")
_BLANK_LINE = re.compile(r"(?:\r\n|\r|\n)[^\S\r\n]*+(?:\r\n|\r|\n)")
_LINE = re.compile(r"[^\r\n]++")

_ENDS_WITHOUT_SPACE = "।॥۔។"
_GOES_ON = ",;:)]}%&=+/|"
_LIST_MARKUP = " \t>#*+-•"
_LONGEST_QUOTE = 400
_LONGEST_WORD = 40


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Sentences of text[start:end] in order, half-open, white space around them left out.

    Every non-blank character of the range lies in exactly one sentence.
    """
    spans = []
    sentence_start = _after(_SPACE, text, start, end)
    for stop_end in _sentence_ends(text, sentence_start, end):
        spans.append((sentence_start, stop_end))
        sentence_start = _after(_SPACE, text, stop_end, end)
    if sentence_start < end:
        spans.append((sentence_start, sentence_start + len(text[sentence_start:end].rstrip())))
    return spans


def line_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Non-blank lines of text[start:end], white space around them left out: table rows, lines of code."""
    spans = []
    for line in _LINE.finditer(text, start, end):
        words = line.group().strip()
        if words:
            first = line.end() - len(line.group().lstrip())
            spans.append((first, first + len(words)))
    return spans


def _sentence_ends(text: str, start: int, end: int) -> Iterator[int]:
    """Offsets after the last character of each sentence but the last."""
    depth = 0
    quote_start = sentence_start = start
    for mark in _MARK.finditer(text, start, end):
        if mark["open"]:
            quote_start = quote_start if depth else mark.start()
            depth += 1
            continue
        if mark["close"]:
            depth = max(0, depth - 1)
            continue
        if mark["wide"]:
            depth = max(0, depth - sum(closer in "」』）】〉》〕" for closer in mark["wide_closers"]))
            inside = depth > 0 and mark.end() - quote_start <= _LONGEST_QUOTE
            ends = not inside and _wide_stop_ends(text, mark, end)
        else:
            ends = _stop_ends(text, mark, sentence_start, end)
        following = _after(_SPACE, text, mark.end(), end)
        if ends and following < end and begins_cluster(text, following):
            depth = 0
            sentence_start = following
            yield mark.end()


def _wide_stop_ends(text: str, mark: re.Match[str], end: int) -> bool:
    if mark.end() >= end:
        return True
    following = text[mark.end()]
    if mark["wide_closers"]:
        # 「…。」と言った goes on; a quotation that stands alone is followed by white space.
        return following.isspace()
    return not (mark["wide"] == "．" and following.isdigit())


def _stop_ends(text: str, mark: re.Match[str], sentence_start: int, end: int) -> bool:
    following = _after(_SPACE, text, mark.end(), end)
    if following == mark.end() or following >= end:
        return mark["stop"][-1] in _ENDS_WITHOUT_SPACE
    if _BLANK_LINE.search(text, mark.end(), following):
        return True
    word_start = _after(_OPENERS, text, following, end)
    if word_start >= end or text[word_start] in _GOES_ON:
        return False
    if text[word_start].islower():
        # Who began this sentence without a capital (chats, quick notes) may begin the next one so, too.
        first_letter = _LETTER.search(text, sentence_start, sentence_start + _LONGEST_WORD)
        if first_letter is None or not first_letter.group().islower():
            return False
    if mark["stop"] == ".":
        return _full_stop_ends(text, mark.start(), sentence_start, word_start)
    # A row of dots that stands apart is an omission: `Romeo … Juliet`.
    return not (mark["stop"].strip(".…‥") == "" and text[mark.start() - 1 : mark.start()].isspace())


def _full_stop_ends(text: str, stop: int, sentence_start: int, next_word: int) -> bool:
    """Whether a single `.` before a word that is not lower case ends a sentence."""
    last_word = _LAST_WORD.search(text, max(sentence_start, stop - _LONGEST_WORD), stop)
    if last_word is None:
        return True
    word = last_word.group().casefold()
    if _is_enumerator(text, sentence_start, last_word):
        return False
    if word in NEVER_LAST:
        return False
    if word in NEVER_BEFORE_NUMBER and (
        text[next_word].isdigit() or _LETTER_OR_ROMAN.match(text, next_word) is not None
    ):
        return False
    starter = _WORD.match(text, next_word, next_word + _LONGEST_WORD)
    if starter is not None and starter.group() in STARTERS:
        return True
    initial = len(word) == 1 and word.isalpha()
    before = text[max(sentence_start, last_word.start() - _LONGEST_WORD) : last_word.start()]
    ordinal = word.isdigit() and len(word) <= 2 and _BEFORE_ORDINAL.search(before) is not None
    dotted = "." in word and not word[0].isdigit()
    return not (initial or ordinal or dotted or word in SOMETIMES_LAST)


def _is_enumerator(text: str, sentence_start: int, word: re.Match[str]) -> bool:
    """Whether `1.`, `a.` or `IV.` stands where a list item begins."""
    name = word.group()
    if not (name.isdigit() or len(name) == 1 or _LETTER_OR_ROMAN.fullmatch(name)):
        return False
    before = text[max(sentence_start, word.start() - _LONGEST_WORD) : word.start()].rstrip(_LIST_MARKUP)
    return before == "" or before[-1] in "\r\n"


def _after(pattern: re.Pattern[str], text: str, position: int, end: int) -> int:
    """Where the match of a pattern that may be empty ends."""
    match = pattern.match(text, position, end)
    return match.end() if match else position
