"""However a stream is cut into pieces, the answer, its citations and its reasoning are the same."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from ragchat.answering.assistant import Assistant
from ragchat.answering.events import Answer, Thinking
from ragchat.answering.server import Delta, InstalledModel, ServerHealth
from ragchat.settings import OllamaSettings
from tests.answering.making import FixedRetriever, a_trace, shown, the_answer
from tests.doubles import WordEmbedder

FRAGMENTS = [
    "[1]", "[1, 2]", "[1][2]", "[1-3]", "【1】", "［２］", "[^1]", "(1)", "[7]", "`[1]`", "```\n[2]\n```\n",
    "word ", "\n\n", "<think>", "</think>", "<thought>", "</thought>", "hm ", "\r\n", "\x1b[2J", "契約。",
    "\u2028", "[", "]",
]  # fmt: skip


class Spoken:
    """A server whose one model says these pieces."""

    host = "http://127.0.0.1:11434"

    def __init__(self, pieces: Sequence[str]) -> None:
        self._pieces = pieces

    def health(self) -> ServerHealth:
        return ServerHealth(self.host, loopback=True, reachable=True)

    def describe(self, model: str) -> InstalledModel:
        return InstalledModel(model, 1, "d")

    def chat(
        self,
        model: str,
        messages: Sequence[Mapping[str, str]],
        options: Mapping[str, float | int],
        cancel: threading.Event,
        *,
        think: bool | None = None,
    ) -> Iterator[Delta]:
        for piece in self._pieces:
            yield Delta(content=piece)
        yield Delta(done=True, done_reason="stop")


def answered(pieces: Sequence[str]) -> tuple[Answer, str, str]:
    """The answer, what a screen shows of it, and the reasoning."""
    retriever, server, embedder = FixedRetriever(a_trace()), Spoken(pieces), WordEmbedder()
    assistant = Assistant(
        retriever=lambda: retriever,
        embedder=lambda: embedder,
        server=lambda: server,
        preferred_model=lambda: "m",
        settings=OllamaSettings(),
    )
    events = list(assistant.ask("When does the lease end?"))
    thought = "".join(event.text for event in events if isinstance(event, Thinking))
    return the_answer(events), shown(events), thought


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join), st.data())
def test_any_split_gives_the_same_answer_citations_and_reasoning(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=10).map(sorted))
    pieces = [text[a:b] for a, b in itertools.pairwise([0, *cuts, len(text)])]
    whole, whole_shown, _ = answered([text])
    split, split_shown, _ = answered(pieces)
    assert split.text == whole.text
    assert split_shown == whole_shown
    assert split.citations == whole.citations
    assert split.outcome == whole.outcome


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join))
def test_what_is_shown_letter_by_letter_is_the_answer(text: str) -> None:
    answer, seen, thought = answered(list(text))
    assert answer.text == seen.rstrip()
    # Between two backticks somebody is writing about the tag; it is no tag then.
    assert "<think>" not in seen.replace("`<think>`", "")
    assert "\x1b" not in seen + thought
    for citation in answer.citations:
        assert seen[citation.start] in "[【［"
        assert set(citation.numbers) <= {1, 2}
