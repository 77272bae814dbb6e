"""What happens between a question and its answer, as values that any screen can show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragchat.retrieval.trace import RetrievalTrace


@dataclass(frozen=True, slots=True)
class Citation:
    """One `[n]` in an answer, attached by the program.

    start, end: half-open range of the mark in `Answer.text`.
    numbers: the sources it names, each of which exists; invalid: numbers no source has.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    invalid: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence taken word for word from source `number`: `document.text[start:end] == text`."""

    number: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Support:
    """One sentence of an answer against the sources it cites.

    start, end: its range in `Answer.text`. numbers: the sources it cites, each of which exists.
    found: whether one of them says it, as far as words and numbers tell; None where it cites none, or where
        all are in another script, which cannot be compared.
    """

    start: int
    end: int
    numbers: tuple[int, ...]
    found: bool | None


@dataclass(frozen=True, slots=True)
class Context:
    """What the model was sent, by its own count where it gave one.

    prompt_tokens: counted by the server where `counted`, else an estimate. num_ctx: the window.
    truncated: the server reports fewer prompt tokens than a whole prompt can have.
    sources, dropped: how many were sent, and how many of the evidence did not fit the window.
    digest: of the model's weights, "" where the server does not tell: a tag's contents can change.
    num_predict: tokens it might use for reasoning and answer; answer_tokens: that it used, None unknown.
    thinking: whether it was asked to reason; None for a model that cannot.
    """

    prompt_tokens: int | None
    num_ctx: int | None
    truncated: bool
    counted: bool = False
    sources: int = 0
    dropped: int = 0
    model: str = ""
    digest: str = ""
    temperature: float | None = None
    seed: int | None = None
    num_predict: int | None = None
    answer_tokens: int | None = None
    thinking: bool | None = None


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One request to a model.

    messages: each with "role" and "content". options: as Ollama takes them. think: whether it was asked to
    reason; None for a model that cannot. outcome: what came of it, in one line.
    """

    address: str
    model: str
    messages: tuple[Mapping[str, str], ...]
    options: Mapping[str, float | int]
    think: bool | None
    outcome: str


@dataclass(frozen=True, slots=True)
class Answer:
    """One finished (or stopped, or broken) answer with the evidence it rests on.

    text: the answer's own words, thinking removed. None for a refusal.
    message: for a refusal the whole line `NO ANSWER: …`; for a notice one line; else None.
    abstained: the model said that the sources lack the answer; its sources are then no evidence.
    outcome: "stopped" and "failed" keep the partial text.
    error, hint: set when failed.
    notice: one line that belongs beside the answer: what to start or pull, that notes leave this machine.
    quotes: what a quotation is made of, in the order of its citations.
    more_tokens: where reasoning or answer used up their tokens, what to ask again with
        (`Assistant.ask(answer_tokens=…)`); 0 where that would not help.
    pull: a model that would have answered, were it installed; "" where none is missing.
    requests: all that a model was sent, in order: a second one where the first did not fit its window; ()
        where none was asked.
    """

    question: str
    trace: RetrievalTrace
    outcome: Literal["answered", "refused", "stopped", "failed"]
    text: str | None
    message: str | None
    answered_by: Literal["model", "quotation", "none"]
    model: str | None
    citations: tuple[Citation, ...]
    abstained: bool
    context: Context | None
    timings_ms: Mapping[str, float]
    error: str = ""
    hint: str = ""
    notice: str = ""
    quotes: tuple[Quote, ...] = ()
    more_tokens: int = 0
    pull: str = ""
    requests: tuple[SentRequest, ...] = ()

    @property
    def cited(self) -> frozenset[int]:
        """Numbers of the sources that the answer cites."""
        return frozenset(number for citation in self.citations for number in citation.numbers)

    @property
    def invalid_citations(self) -> tuple[int, ...]:
        """Numbers that the model wrote and no source has, in order, once each."""
        return tuple(dict.fromkeys(number for citation in self.citations for number in citation.invalid))


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The evidence is known; sent before any model is asked, and again if not all of it fits the window."""

    trace: RetrievalTrace


@dataclass(frozen=True, slots=True)
class Waiting:
    """The server has not sent a byte yet (it may be loading the model)."""

    model: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Thinking:
    """A piece of the model's reasoning; never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A piece of the answer, safe to show: control characters escaped.

    restarts: what was shown before was reasoning after all (a lone `</think>` came); the answer begins here.
    """

    text: str
    restarts: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event of every question, whatever came of it."""

    answer: Answer


AnswerEvent = Retrieved | Waiting | Thinking | AnswerText | Finished
