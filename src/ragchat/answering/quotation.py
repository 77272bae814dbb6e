"""The answer without a model: sentences word for word from the sources, each with its number and exact range.

It needs nothing, invents nothing, and is labelled as what it is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragchat.answering.escape import escape_control
from ragchat.answering.events import Citation, Quote
from ragchat.chunking.chunk import Chunk
from ragchat.chunking.sentences import sentence_spans
from ragchat.embedding.embedder import Embedder
from ragchat.index.tokens import tokenize
from ragchat.retrieval.identifiers import terms_of
from ragchat.retrieval.trace import RetrievalTrace

MOST_SENTENCES = 4
MOST_PER_SOURCE = 2
_MARGIN = 0.2
"""A sentence may score so much below the best one and is still quoted."""
_LEXICAL_WEIGHT = 0.5
_LONGEST = 600
"""A longer "sentence" is a table, a listing or a log, and no answer."""


_ROW = re.compile(r"\|[^\r\n]*\|(?=[ \t]*(?:[\r\n]|$))")


@dataclass(frozen=True, slots=True)
class Quotation:
    """The text to show and where each quote in it comes from."""

    text: str
    quotes: tuple[Quote, ...]
    citations: tuple[Citation, ...]


def quote_sources(trace: RetrievalTrace, embedder: Embedder) -> Quotation:
    """The sentences nearest to the question: at most four, two a source, in the order of the sources.

    Never empty when the trace has a source.
    """
    sentences = [
        sentence
        for number, source in enumerate(trace.sources, start=1)
        for sentence in _sentences(number, source.chunk)
    ]
    sentences = _holding_its_codes(trace.question, sentences, embedder)
    scores = _scores(trace.question, [sentence.text for sentence in sentences], embedder)
    return _laid_out([sentences[index] for index in _best(sentences, scores)])


def _sentences(number: int, chunk: Chunk) -> list[Quote]:
    content = chunk.content
    spans = [row for span in sentence_spans(content, 0, len(content)) for row in _rows(content, *span)]
    whole = [
        Quote(number, chunk.start + start, chunk.start + end, content[start:end]) for start, end in spans
    ]
    telling = [quote for quote in whole if len(quote.text) <= _LONGEST and _has_words(quote.text)]
    return telling or whole or [Quote(number, chunk.start, chunk.end, chunk.content)]


def _rows(content: str, start: int, end: int) -> list[tuple[int, int]]:
    """The rows of a Markdown table one by one, its column names and their rule left out; else the span."""
    rows = [(start + row.start(), start + row.end()) for row in _ROW.finditer(content[start:end])]
    if len(rows) < 2 or not content[start:end].lstrip().startswith("|"):
        return [(start, end)]
    rules = [
        index for index, (first, last) in enumerate(rows) if not set(content[first:last]) - set("|:- \t")
    ]
    return rows[rules[0] + 1 :] or rows if rules else rows


def _holding_its_codes(question: str, sentences: list[Quote], embedder: Embedder) -> list[Quote]:
    """Who asks for `E1234` must not be quoted another code's line, however alike its words are."""
    terms = [term for term in terms_of(question, embedder.count_tokens) if term.case == "any"]
    codes = [set(tokenize(term.text)) for term in terms]
    holding = [
        sentence
        for sentence in sentences
        if any(code <= set(tokenize(sentence.text)) for code in codes if code)
    ]
    return holding or sentences


def _has_words(text: str) -> bool:
    return sum(character.isalnum() for character in text) >= 3 and "```" not in text


def _scores(question: str, texts: Sequence[str], embedder: Embedder) -> list[float]:
    """Closeness to the question: cosine, plus half the share of its words, rare ones counting more."""
    asked = set(tokenize(question))
    tokens = [set(tokenize(text)) for text in texts]
    weights = {word: math.log(1 + len(texts) / (0.5 + sum(word in own for own in tokens))) for word in asked}
    total = math.fsum(weights.values()) or 1.0
    shared = [math.fsum(weights[word] for word in asked & own) / total for own in tokens]
    return [
        cosine + _LEXICAL_WEIGHT * share
        for cosine, share in zip(_cosines(question, texts, embedder), shared, strict=True)
    ]


def _cosines(question: str, texts: Sequence[str], embedder: Embedder) -> list[float]:
    """Cosine of each text to the question; 0 for one over the embedder's window."""
    fitting = [index for index, text in enumerate(texts) if embedder.count_tokens(text) <= embedder.window]
    cosines = np.zeros(len(texts), dtype=np.float32)
    if fitting:
        vectors = embedder.embed_passages([texts[index] for index in fitting])
        cosines[fitting] = vectors @ embedder.embed_question(question)
    return [float(cosine) for cosine in cosines]


def _best(sentences: Sequence[Quote], scores: Sequence[float]) -> list[int]:
    order = sorted(range(len(sentences)), key=lambda index: (-scores[index], index))
    chosen: list[int] = []
    taken: dict[int, int] = {}
    for index in order:
        number = sentences[index].number
        near = not chosen or scores[index] >= scores[order[0]] - _MARGIN
        said = any(sentences[index].text == sentences[other].text for other in chosen)
        if near and not said and taken.get(number, 0) < MOST_PER_SOURCE and len(chosen) < MOST_SENTENCES:
            chosen.append(index)
            taken[number] = taken.get(number, 0) + 1
    return sorted(chosen)


def _laid_out(quotes: Sequence[Quote]) -> Quotation:
    """Each quote as a paragraph of its own, its mark behind it."""
    text, citations = "", []
    for index, quote in enumerate(quotes):
        text += ("\n\n" if index else "") + escape_control(quote.text) + " "
        mark = f"[{quote.number}]"
        citations.append(Citation(len(text), len(text) + len(mark), (quote.number,), ()))
        text += mark
    return Quotation(text, tuple(quotes), tuple(citations))
