"""Is each sentence of an answer found in the source it cites? A cheap check of words, numbers and closeness.

It is no proof: a sentence whose words all stand in its source may still turn them round. What it catches is
the usual fault, a sentence that its source says nothing about, or a number that stands nowhere in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragchat.answering.citations import without_citations
from ragchat.answering.events import Answer, Citation, Support
from ragchat.chunking.chunk import Chunk
from ragchat.chunking.sentences import sentence_spans
from ragchat.embedding.embedder import Embedder
from ragchat.index.tokens import tokenize

ENOUGH = 0.55
"""Of the mean of two shares: words found in the source, and cosine to its nearest sentence.

On clapnq (all-MiniLM-L6-v2) it finds the annotators' answers in their passages 70 times of 70, and once of 70
in the nearest other note.
"""
_LATIN_ENDS = "\u0250"
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_APART = re.compile(r"(?:\A|\n)[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+|\n[ \t]*(?=[\n|#])")
"""What no sentence goes across: the mark of a list item, a blank line, the start of a row or a heading."""
_BLANK = re.compile(r"[\s.!?。！？…)\]»”\"']*")


def check_support(answer: Answer, embedder: Embedder) -> tuple[Support, ...]:
    """Every sentence with words, in order. Nothing for a refusal, an abstention or a quotation."""
    if not answer.text or answer.abstained or answer.answered_by != "model":
        return ()
    sources = [candidate.chunk for candidate in answer.trace.sources]
    return tuple(
        Support(
            start,
            end,
            numbers,
            _is_found(answer.text[start:end], [sources[n - 1] for n in numbers], embedder),
        )
        for start, end, numbers in _cited_sentences(answer.text, answer.citations)
    )


def _cited_sentences(text: str, citations: Sequence[Citation]) -> list[tuple[int, int, tuple[int, ...]]]:
    """Sentences with the numbers in them and right behind them: `It ends. [1] Then` cites for the first."""
    sentences: list[tuple[int, int, tuple[int, ...]]] = []
    for start, end in _sentences(text):
        own = [citation for citation in citations if start <= citation.start < end]
        leading = _leading(text, start, own) if sentences else []
        if leading:
            before = sentences[-1]
            numbers = (*before[2], *(number for citation in leading for number in citation.numbers))
            sentences[-1] = (before[0], leading[-1].end, tuple(dict.fromkeys(numbers)))
            start = leading[-1].end
            own = own[len(leading) :]
        if any(character.isalnum() for character in without_citations(text[start:end])):
            numbers = tuple(dict.fromkeys(number for citation in own for number in citation.numbers))
            sentences.append((start, end, numbers))
    return sentences


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of an answer in Markdown: an item of a list is none with the line that leads to it."""
    start = 0
    for apart in _APART.finditer(text):
        yield from sentence_spans(text, start, apart.start())
        start = apart.end()
    yield from sentence_spans(text, start, len(text))


def _leading(text: str, start: int, citations: Sequence[Citation]) -> list[Citation]:
    """The marks that a sentence begins with."""
    leading = []
    for citation in citations:
        if not _BLANK.fullmatch(text, start, citation.start):
            break
        leading.append(citation)
        start = citation.end
    return leading


def _is_found(sentence: str, sources: Sequence[Chunk], embedder: Embedder) -> bool | None:
    words = without_citations(sentence)
    texts = [source.sent for source in sources if _comparable(words, source.sent)]
    if not texts:
        return None
    return any(support_score(words, text, embedder) >= ENOUGH for text in texts)


def _comparable(one: str, other: str) -> bool:
    """Whether both are written mostly in Latin letters, or mostly in others."""
    return _is_latin(one) == _is_latin(other)


def _is_latin(text: str) -> bool:
    letters = [character < _LATIN_ENDS for character in text if character.isalpha()]
    return 2 * sum(letters) >= len(letters)


def support_score(sentence: str, source: str, embedder: Embedder) -> float:
    """Between 0 and 1: how well the source says the sentence; 0 where it lacks one of its numbers."""
    said = set(tokenize(sentence))
    numbers = set(_NUMBER.findall(sentence))
    if not numbers <= set(_NUMBER.findall(source)) or not said:
        return 0.0
    shared = len(said & set(tokenize(source))) / len(said)
    return (shared + max(0.0, _closest(sentence, source, embedder))) / 2


def _closest(sentence: str, source: str, embedder: Embedder) -> float:
    """Cosine to the nearest sentence of the source; 0 where the window holds none of them."""
    texts = [source[start:end] for start, end in sentence_spans(source, 0, len(source))]
    fitting = [text for text in (sentence, *texts) if embedder.count_tokens(text) <= embedder.window]
    if len(fitting) < 2 or fitting[0] != sentence:
        return 0.0
    vectors = embedder.embed_passages(fitting)
    return float((vectors[1:] @ vectors[0]).max())
