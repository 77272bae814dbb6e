"""The two backends give the same candidates with the same numbers, whatever was put in, in whatever order."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from ragchat.answering.filtered import retrieve_filtered
from ragchat.index.postgres import lexical, snapshot
from ragchat.index.postgres.store import open_library
from ragchat.index.protocol import Hit, Index, Scope, Snapshot
from ragchat.index.store import open_index
from ragchat.retrieval.filters import Filters
from ragchat.retrieval.retriever import Retriever
from ragchat.retrieval.trace import RetrievalTrace, Threshold
from ragchat.settings import RetrievalSettings
from tests.index.building import EMBEDDER, STAMP, chunks_of, document, embed, put, source

WORDS = [f"word{number}" for number in range(60)]
ANYWHERE = Scope()


def passage(randomly: random.Random) -> str:
    """Words as they are in language: the first of the list in almost every passage, the last in few."""
    return " ".join(randomly.choices(WORDS, [1 / rank for rank in range(1, 61)], k=randomly.randint(1, 30)))


def told(snapshot_: Snapshot, hits: list[Hit]) -> list[tuple[str, int]]:
    """In their order: equals stand the same way in both, whatever was put in first."""
    return placed(snapshot_, [hit.chunk_id for hit in hits])


def placed(snapshot_: Snapshot, chunk_ids: list[int]) -> list[tuple[str, int]]:
    return [(chunk.document, chunk.start) for chunk in snapshot_.chunks(chunk_ids)]


def assert_same(one: Snapshot, other: Snapshot, randomly: random.Random) -> None:
    for _ in range(15):
        question = randomly.choices(WORDS, k=randomly.randint(1, 8))
        scope = randomly.choice(
            [ANYWHERE, ANYWHERE, Scope(prefix="a/"), Scope(documents=frozenset({"a/1.md"}))]
        )
        limit = randomly.choice([1, 3, 500])
        vector = EMBEDDER.embed_question(" ".join(question))
        for local, shared in [
            (one.lexical(question, limit, scope), other.lexical(question, limit, scope)),
            (one.dense(vector, limit, scope), other.dense(vector, limit, scope)),
        ]:
            assert [hit.value for hit in shared] == pytest.approx([hit.value for hit in local], abs=1e-6)
            assert told(other, shared) == told(one, local)
        word = randomly.choice(WORDS)
        assert placed(other, other.containing(word, scope, limit)) == placed(
            one, one.containing(word, scope, limit)
        )
    for word in [*WORDS, "unheard"]:
        assert one.document_frequency(word) == other.document_frequency(word)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("lookups", [True, False])
def test_the_same_sources_from_both(
    seed: int, lookups: bool, tmp_path: Path, server_url: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lookups:
        monkeypatch.setattr(lexical, "_FEW_ROWS", 1)
        monkeypatch.setattr(lexical, "_SMALL_PART", 10.0)
        monkeypatch.setattr(lexical, "_WORTH", 0.0)
    randomly = random.Random(seed)
    local, shared = open_index(tmp_path / "local"), open_library(server_url, library)
    both: list[Index] = [local, shared]
    for index in both:
        index.begin(STAMP)
    for _ in range(60):
        name = f"{randomly.choice('ab')}/{randomly.randint(1, 12)}.md"
        if randomly.random() < 0.2:
            for index in both:
                index.remove(name)
        else:
            passages = [passage(randomly) for _ in range(randomly.randint(0, 6))]
            for index in both:
                put(index, name, *passages)
    one, other = local.snapshot(), shared.snapshot()
    assert one.chunk_count == other.chunk_count > 20
    assert_same(one, other, randomly)
    local.close()
    shared.close()


@pytest.mark.parametrize("seed", range(2))
def test_a_filtered_question_has_the_same_trace_on_both(
    seed: int, tmp_path: Path, server_url: str, library: str
) -> None:
    randomly = random.Random(seed)
    local, shared = open_index(tmp_path / "local"), open_library(server_url, library)
    both: list[Index] = [local, shared]
    for index in both:
        index.begin(STAMP)
    for number in range(24):
        name = f"{randomly.choice('ab')}/{randomly.choice(['', '2024-05-01 ', '2025-02-03 '])}{number}.md"
        passages = [passage(randomly) for _ in range(randomly.randint(0, 4))]
        marked = replace(
            document(name, "\n".join(passages)), tags=tuple(randomly.sample(["tax", "rent", "tax/late"], 1))
        )
        starts = [sum(len(each) + 1 for each in passages[:at]) for at in range(len(passages))]
        chunks = chunks_of(
            marked, *[(start, start + len(each)) for start, each in zip(starts, passages, strict=True)]
        )
        for index in both:
            index.replace(marked, source(name, marked.text), chunks, embed(chunks))
    retrievers = [
        Retriever(index.snapshot(), EMBEDDER, RetrievalSettings(), Threshold(0.6, "setting"))
        for index in both
    ]
    for _ in range(25):
        filters = Filters(
            within=randomly.choice([(), ("a/",), ("b",), ("a/", "b/")]),
            tags=randomly.choice([(), ("tax",), ("rent",)]),
            not_tags=randomly.choice([(), (), ("tax/late",)]),
            after=randomly.choice(["", "2024-06", "2025"]),
            before=randomly.choice(["", "2025-03"]),
        )
        question = " ".join(randomly.choices(WORDS, k=randomly.randint(1, 8)))
        one, other = (retrieve_filtered(retriever, question, filters) for retriever in retrievers)
        assert judged(one) == judged(other)
        assert (one.coverage, one.filters, one.refused) == (other.coverage, other.filters, other.refused)
    for index in both:
        index.close()


def judged(trace: RetrievalTrace) -> dict[tuple[str, int], tuple[str, float]]:
    return {
        (each.chunk.document, each.chunk.start): (each.verdict, round(each.distance, 5))
        for each in trace.candidates
    }


def test_what_the_graph_proposes_is_judged_on_exact_distances(
    server_url: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = open_library(server_url, library)
    shared.begin(STAMP)
    randomly = random.Random(7)
    for number in range(40):
        put(shared, f"{number}.md", *[passage(randomly) for _ in range(10)])
    whole = shared.snapshot()
    monkeypatch.setattr(snapshot, "EXACT_BELOW", 50)
    assert whole.approximate
    for _ in range(20):
        question = EMBEDDER.embed_question(" ".join(randomly.choices(WORDS, k=4)))
        for scope in (ANYWHERE, Scope(documents=frozenset({"3.md"}))):
            exact = whole.dense(question, 5, scope, exact=True)
            proposed = whole.dense(question, 5, scope)
            assert len(proposed) == len(exact) == 5
            assert [hit.value for hit in proposed] == pytest.approx([hit.value for hit in exact], abs=0.05)
            for hit in proposed:
                distance = 1 - float(whole.vectors([hit.chunk_id])[0] @ question)
                assert hit.value == pytest.approx(distance, abs=1e-6)
    shared.close()
