"""A follow-up is searched together with the question before, and judged by what it adds itself."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

import pytest

from ragchat.answering.follow_up import retrieve_follow_up
from ragchat.answering.retrieves import EVERYWHERE, NOBODY
from ragchat.index.protocol import Scope
from ragchat.index.source import Source
from ragchat.retrieval.gate import judge
from ragchat.retrieval.trace import RetrievalTrace
from tests.answering.making import GARDEN, a_candidate, a_chunk, a_trace, an_assistant
from tests.ollama_server import OllamaTestServer

BEFORE, NEW = "When does the lease end?", "And the notice?"


class Distances:
    """Gives the two passages (lease, garden) these distances for each text that is searched."""

    def __init__(
        self, distances: Mapping[str, tuple[float, float]], words: Mapping[str, int] | None = None
    ) -> None:
        self._distances = distances
        self._words = words or {}
        self.searched: list[str] = []

    def sources(self) -> Mapping[str, Source]:
        return {}

    def retrieve(
        self, question: str, scope: Scope = EVERYWHERE, admit: AbstractSet[int] = NOBODY
    ) -> RetrievalTrace:
        self.searched.append(question)
        near = self._distances[question]
        chunks = (a_chunk(), a_chunk(GARDEN, "garden.md", ("Garden",), 0))
        candidates = [
            replace(a_candidate(chunk, at + 1, distance=near[at]), bm25_rank=self._words.get(question))
            for at, chunk in enumerate(chunks)
        ]
        trace = a_trace(question)
        judged = judge(candidates, trace.threshold.value, 4)
        return replace(trace, candidates=judged, nearest=min(near))


def followed(
    new: str, together: tuple[float, float], alone: tuple[float, float], before: tuple[float, float]
) -> RetrievalTrace:
    retriever = Distances({f"{BEFORE} {new}": together, BEFORE: before, new: alone})
    trace = retrieve_follow_up(retriever, new, BEFORE, EVERYWHERE)
    assert f"{BEFORE} {new}" in retriever.searched
    assert trace.question == new
    assert trace.searched == f"{BEFORE} {new}"
    return trace


def test_what_the_new_question_brings_nearer_is_evidence() -> None:
    trace = followed(NEW, together=(0.2, 0.9), alone=(0.6, 0.95), before=(0.3, 0.9))
    assert [source.chunk.document for source in trace.sources] == ["house/lease.md"]
    assert trace.sources[0].distance == 0.2


@pytest.mark.parametrize(
    ("question", "together", "alone"),
    [("hello", (0.31, 0.9), (0.9, 0.9)), ("why is the sky blue?", (0.49, 0.8), (1.07, 0.9))],
)
def test_an_earlier_hit_is_no_evidence_for_what_has_nothing_to_do_with_it(
    question: str, together: tuple[float, float], alone: tuple[float, float]
) -> None:
    trace = followed(question, together=together, alone=alone, before=(0.3, 0.9))
    assert trace.refused
    assert trace.nearest is not None
    assert trace.nearest > trace.threshold.value


def test_what_the_new_question_finds_first_by_a_word_of_its_own_is_evidence_though_it_was_before() -> None:
    distances = {f"{BEFORE} {NEW}": (0.29, 0.9), BEFORE: (0.3, 0.9), NEW: (0.65, 0.9)}
    found = retrieve_follow_up(Distances(distances, {NEW: 1}), NEW, BEFORE, EVERYWHERE)
    assert [source.distance for source in found.sources] == [0.29]
    assert retrieve_follow_up(Distances(distances), NEW, BEFORE, EVERYWHERE).refused


def test_once_it_has_passed_what_both_questions_find_is_sent() -> None:
    trace = followed("How much sun?", together=(0.31, 0.4), alone=(0.9, 0.6), before=(0.3, 0.6))
    assert [(source.chunk.document, source.distance) for source in trace.sources] == [
        ("house/lease.md", 0.31),
        ("garden.md", 0.4),
    ]


def test_what_is_near_to_the_new_question_alone_stays_evidence() -> None:
    trace = followed("How much sun?", together=(0.7, 0.6), alone=(0.9, 0.4), before=(0.3, 0.9))
    assert [source.chunk.document for source in trace.sources] == ["garden.md"]


def test_a_gate_that_the_earlier_question_loosens_stays_strict_for_the_new_one() -> None:
    class Adaptive(Distances):
        def retrieve(
            self, question: str, scope: Scope = EVERYWHERE, admit: AbstractSet[int] = NOBODY
        ) -> RetrievalTrace:
            trace = super().retrieve(question, scope, admit)
            value = 0.92 if BEFORE in question else 0.2
            judged = judge(trace.candidates, value, 4)
            told = replace(trace.threshold, value=value, folders=0.5)
            return replace(trace, candidates=judged, threshold=told)

    retriever = Adaptive({f"{BEFORE} hello": (0.31, 0.9), BEFORE: (0.3, 0.9), "hello": (0.89, 0.9)})
    assert retrieve_follow_up(retriever, "hello", BEFORE, EVERYWHERE).refused
    # Its own threshold is low because it has few words; that does not speak against it.
    retriever = Adaptive({f"{BEFORE} {NEW}": (0.44, 0.9), BEFORE: (0.6, 0.9), NEW: (0.65, 0.9)})
    answered = retrieve_follow_up(retriever, NEW, BEFORE, EVERYWHERE)
    assert [source.distance for source in answered.sources] == [0.44]
    assert answered.threshold.value == 0.5


def test_a_refused_follow_up_asks_no_model_and_an_answered_one_tells_it_the_question_before() -> None:
    with OllamaTestServer() as server:
        assistant = an_assistant(server.url)
        for new, together in ((NEW, (0.2, 0.9)), ("hello", (0.31, 0.9))):
            retriever = Distances({f"{BEFORE} {new}": together, BEFORE: (0.3, 0.9), new: (0.9, 0.9)})
            assistant._retriever = lambda retriever=retriever: retriever  # type: ignore[misc]
            list(assistant.ask(new, follows=BEFORE))
        assert server.count("/api/chat") == 1
        (request,) = server.received("/api/chat")
        said = request.body["messages"][-1]["content"]
        assert f"what this one is about: {BEFORE}" in said
        assert f"Question: {NEW}" in said
