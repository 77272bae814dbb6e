"""A sentence of context before a passage: what a model says that the passage is about.

It is read by the encoder and by BM25, and by nothing else: it goes into `text`, never into `content`, so that
no word of it can be quoted, sent or cited.
"""

from __future__ import annotations

from dataclasses import replace

from ragchat.chunking.chunk import Chunk, TokenCounter
from ragchat.chunking.sentences import sentence_spans

LONGEST = 300
"""Characters; a model that goes on has begun to retell."""
_SHORTEST = 20


def with_context(chunk: Chunk, context: str, counter: TokenCounter) -> Chunk:
    """The chunk with this context between its header and its words, counted as part of the header.

    One sentence of it is taken: small models go on and repeat themselves. It is shortened where the encoder's
    window is full, and left out where nothing of it fits.
    """
    line = _shortened(_one_sentence(" ".join(context.split())), LONGEST)
    after_header = chunk.text.find("\n") + 1 if chunk.header_tokens else 0
    header, words = chunk.text[:after_header], chunk.text[after_header:]
    while len(line) >= _SHORTEST:
        text = f"{header}{line}\n{words}"
        tokens = counter.count_tokens(text)
        if tokens <= counter.window:
            header_tokens = chunk.header_tokens + max(0, tokens - chunk.tokens)
            return replace(chunk, text=text, tokens=tokens, header_tokens=header_tokens)
        line = _shortened(line, len(line) * 2 // 3)
    return chunk


def _one_sentence(line: str) -> str:
    """The first, with what stands before it where that says nothing ("Sure!")."""
    ends = (end for _, end in sentence_spans(line, 0, len(line)) if end >= _SHORTEST)
    return line[: next(ends, len(line))]


def _shortened(line: str, most: int) -> str:
    """At most so many characters, cut after a word where there is one."""
    if len(line) <= most:
        return line
    return line[:most].rpartition(" ")[0] or line[:most]
