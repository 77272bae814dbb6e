"""`python -m benchmarks.gate` looks at a folder in which the answers of a question are hidden."""

from __future__ import annotations

from typing import cast

from benchmarks.hidden import HidingSnapshot
from ragchat.index.protocol import Snapshot
from ragchat.retrieval.calibration import off_topic_signals
from ragchat.retrieval.search import asked_with
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemorySnapshot, passage


def test_the_signals_of_a_question_whose_answer_is_hidden_are_those_without_it() -> None:
    embedder = WordEmbedder()
    answer = passage("the lease ends in march", "lease.md")
    others = [passage(f"a note about tyre number {n}", f"{n}.md") for n in range(6)]
    asked = asked_with(embedder, "when does the lease end in march")
    whole = MemorySnapshot([answer, *others], embedder)
    hiding = cast("Snapshot", HidingSnapshot(whole, {whole.ids[0]}))
    for kind, (signals,) in off_topic_signals(hiding, [asked], 5).items():
        (without,) = off_topic_signals(MemorySnapshot(others, embedder), [asked], 5)[kind]
        (found,) = off_topic_signals(whole, [asked], 5)[kind]
        assert signals.nearest == without.nearest
        assert found.nearest < signals.nearest
