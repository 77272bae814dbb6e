"""A model of the Ollama server (bge-m3 and the like) as an embedder.

Ollama tells no tokenizer, so `count_tokens` is an estimate on the safe side; what the server refuses all the
same (it is asked not to truncate) is cut in halves at white space, and the halves' vectors are averaged to a
unit vector again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragchat.embedding.embedder import EmbedderStamp, Matrix, TokenVectors, Vector
from ragchat.embedding.ollama_model import InputRefused, OllamaFacts, OllamaModel
from ragchat.embedding.texts import halves
from ragchat.embedding.token_vectors import none_of
from ragchat.embedding.vectors import mean_direction, unit_rows
from ragchat.errors import EmbedderUnavailable, UsageError
from ragchat.settings import EmbeddingSettings

if TYPE_CHECKING:
    from ragchat.embedding.prepare import Notify

_BATCH = 16
# Loading a large model takes minutes without a byte; telling a version does not.
_ANSWER_SECONDS = 600.0
_QUICK_SECONDS = 5.0
# The window of most small models; for one that does not tell its own.
_UNKNOWN_WINDOW = 512
_SPECIAL_TOKENS = 2
# A text this short that is still refused is not refused for its length.
_SHORTEST_SPLIT = 16

_UNITS = re.compile(r"(?P<word>[a-z]+)|(?P<ascii>[A-Z0-9!-/:-@\[-`{-~])|(?P<space> )|(?P<other>.)", re.DOTALL)


class OllamaEmbedder:
    """Safe to call from several threads."""

    def __init__(self, model: OllamaModel, stamp: EmbedderStamp, *, context: int) -> None:
        self._model = model
        self._stamp = stamp
        self._context = context

    @property
    def stamp(self) -> EmbedderStamp:
        """What made the vectors."""
        return self._stamp

    @property
    def window(self) -> int:
        """The most tokens it reads at once, special tokens included."""
        return self._stamp.window

    @property
    def token_dimensions(self) -> int:
        """0: the server tells no token vectors."""
        return 0

    def count_tokens(self, text: str) -> int:
        """An estimate that tokenizers stay under on ordinary text; the passage prompt is included."""
        return estimated_tokens(self._stamp.passage_prompt + text)

    def embed_passages(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (len(texts), dimensions). Raises EmbedderUnavailable.

        Whether a text is over the window only the server knows, so none is refused here: one that the server
        refuses is embedded in pieces.
        """
        rows = np.empty((len(texts), self._stamp.dimensions), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            rows[start : start + len(batch)] = self._embed_batch(batch, self._stamp.passage_prompt)
        return rows

    def embed_question(self, text: str) -> Vector:
        """A unit vector, shape (dimensions,). Over the window: the average of its pieces."""
        return self._embed_one(text, self._stamp.question_prompt)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> tuple[Matrix, TokenVectors]:
        """As `embed_passages`, and no token vectors."""
        return self.embed_passages(texts), none_of(len(texts))

    def embed_question_with_tokens(self, text: str) -> tuple[Vector, Matrix]:
        """As `embed_question`, and no token vectors."""
        return self.embed_question(text), np.zeros((0, 0), dtype=np.float32)

    def _embed_batch(self, texts: Sequence[str], prompt: str) -> Matrix:
        try:
            return self._rows([prompt + text for text in texts])
        except InputRefused:
            # One bad text fails its whole batch: find it by asking for each alone.
            return np.stack([self._embed_one(text, prompt) for text in texts])

    def _embed_one(self, text: str, prompt: str) -> Vector:
        try:
            vector: Vector = self._rows([prompt + text])[0]
            return vector
        except InputRefused as refusal:
            if not refusal.too_long or len(text) <= _SHORTEST_SPLIT:
                raise _not_embedded(self._model, refusal) from refusal
        return mean_direction(
            [self._embed_one(part, prompt) for part in halves(text)], model=self._stamp.model
        )

    def _rows(self, inputs: Sequence[str]) -> Matrix:
        rows = unit_rows(self._model.embed(inputs, context=self._context), model=self._stamp.model)
        if rows.shape != (len(inputs), self._stamp.dimensions):
            raise EmbedderUnavailable(
                f"ollama gave vectors of shape {rows.shape} for {len(inputs)} texts with {self._model.name}, "
                f"expected {self._stamp.dimensions} dimensions",
                hint=f"ollama show {self._model.name}",
            )
        return rows


def open_ollama(
    settings: EmbeddingSettings, name: str, host: str, *, fetch: bool, notify: Notify
) -> OllamaEmbedder:
    """Connect, read the model's digest and window, and embed one probe.

    fetch: have the server pull a model that is not installed.
    Raises EmbedderUnavailable, and UsageError for a host that is no address.
    """
    model = OllamaModel(name, host, seconds=_ANSWER_SECONDS)
    if fetch:
        model.pull(notify)
    facts = model.facts()
    notify(f"loading {model.name} in ollama at {model.host}")
    try:
        probe = unit_rows(model.embed(["probe"], context=facts.context), model=model.name)
    except InputRefused as refusal:
        raise _not_embedded(model, refusal) from refusal
    stamp = _stamp(settings, model.name, facts, dimensions=probe.shape[1])
    return OllamaEmbedder(model, stamp, context=facts.context)


def ollama_stamp(settings: EmbeddingSettings, name: str, host: str) -> EmbedderStamp | None:
    """The stamp as the server tells it without loading the model; None when it does not."""
    try:
        model = OllamaModel(name, host, seconds=_QUICK_SECONDS)
        facts = model.facts()
    except (EmbedderUnavailable, UsageError):
        return None
    return _stamp(settings, model.name, facts, dimensions=facts.dimensions) if facts.dimensions else None


def estimated_tokens(text: str) -> int:
    """Tokens of a text by an unknown tokenizer, special tokens included, rather too many than too few.

    Half the letters of a lower-case run, one for every other ASCII character and line break, none for a space
    before a word, two for any other character, four beyond the basic plane (where tokenizers go by bytes).
    """
    tokens = _SPECIAL_TOKENS
    before = ""
    for unit in _UNITS.finditer(text):
        kind, found = unit.lastgroup, unit.group()
        if kind == "word":
            tokens += (len(found) + 1) // 2
        elif kind == "ascii":
            tokens += 1
        elif kind == "space":
            tokens += before == "space"
        else:
            tokens += 1 if found.isspace() else 2 if found <= "\uffff" else 4
        before = kind or ""
    return tokens


def _stamp(settings: EmbeddingSettings, name: str, facts: OllamaFacts, *, dimensions: int) -> EmbedderStamp:
    return EmbedderStamp(
        model=f"ollama:{name}",
        weights=facts.digest,
        dimensions=dimensions,
        normalisation="unit",
        question_prompt=settings.question_prompt,
        passage_prompt=settings.passage_prompt,
        window=facts.context or _UNKNOWN_WINDOW,
        runtime=f"ollama {facts.version}",
    )


def _not_embedded(model: OllamaModel, refusal: InputRefused) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"{model.name} cannot embed a text: {refusal}",
        hint=f"ollama show {model.name}",
    )
