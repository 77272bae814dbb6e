from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragchat.chunking.chunk import Chunk
from ragchat.embedding.embedder import Vector
from ragchat.embedding.packaged import MINILM
from ragchat.errors import IndexCorrupt, IndexStale, UsageError
from ragchat.index.protocol import Hit, Scope
from ragchat.retrieval import search
from ragchat.retrieval.adaptive import FolderGate, Usual, gate_weights
from ragchat.retrieval.calibration import calibrate
from ragchat.retrieval.off_topic import load_off_topic_questions
from ragchat.retrieval.retriever import LONGEST_QUESTION, Retriever
from ragchat.retrieval.search import DEPTH, asked_with
from ragchat.retrieval.signals import STANDING_OUT
from ragchat.retrieval.trace import RetrievalTrace, Threshold
from ragchat.settings import RetrievalSettings
from tests.doubles import WordEmbedder
from tests.retrieval.doubles import MemorySnapshot, passage

NOTES = [
    passage("Simmer the lentils with cumin until the lentils are soft.", "cooking/soup.md"),
    passage("Beat the eggs with sugar and fold in the flour.", "cooking/cake.md"),
    passage("The lease ends on 31 March 2027 with two months notice.", "house/lease.md"),
    passage("The landlord is Mrs Oyelaran and the boiler shows E1234 when it fails.", "house/boiler.md"),
    passage("Renew the passport at the office in Harbour Street, the address of the office.", "papers.md"),
]
EMBEDDER = WordEmbedder()


def retriever(threshold: float = 0.65, notes=NOTES, **wanted: Any) -> Retriever:  # type: ignore[no-untyped-def]
    snapshot = MemorySnapshot(notes, EMBEDDER)
    return Retriever(snapshot, EMBEDDER, RetrievalSettings(**wanted), Threshold(threshold, "setting"))


def documents(trace: RetrievalTrace) -> list[str]:
    return [source.chunk.document for source in trace.sources]


@pytest.mark.parametrize("question", ["when does the lease end", "boiler E1234", "zzz", "the ?"])
def test_searches_that_run_side_by_side_find_the_same(question: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one = retriever().retrieve(question)
    monkeypatch.setattr(search, "_SIDE_BY_SIDE", 0)
    beside = retriever().retrieve(question)
    assert replace(beside, timings_ms=one_by_one.timings_ms) == one_by_one


@pytest.mark.parametrize("failing", ["dense", "lexical"])
def test_what_one_of_them_raises_is_raised(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_SIDE_BY_SIDE", 0)

    def fail(*_: object, **__: object) -> list[Hit]:
        raise IndexCorrupt("damaged", hint="ragchat index --rebuild")

    monkeypatch.setattr(MemorySnapshot, failing, fail)
    with pytest.raises(IndexCorrupt):
        retriever().retrieve("when does the lease end")


some_words = st.lists(
    st.sampled_from(
        ["the", "lease", "ends", "lentils", "flour", "boiler", "E1234", "office", "zzz", "20.04", "?"]
    ),
    min_size=1,
    max_size=8,
).map(" ".join)


@settings(max_examples=60)
@given(
    some_words, st.floats(0, 1.2), st.sampled_from(["", "house/", "cooking/", "nowhere/"]), st.integers(1, 5)
)
def test_a_trace_is_whole(question: str, threshold: float, prefix: str, limit: int) -> None:
    snapshot = MemorySnapshot(NOTES, EMBEDDER)
    wanted = RetrievalSettings(candidates=limit, sources=2)
    scope = Scope(prefix=prefix)
    trace = Retriever(snapshot, EMBEDDER, wanted, Threshold(threshold, "setting")).retrieve(question, scope)
    found = trace.candidates
    assert sorted(c.fused_rank for c in found) == list(range(1, len(found) + 1))
    scores = [c.rerank_score for c in found if c.rerank_score is not None]
    if trace.literal is None:
        # A question of signs alone has no token vectors here.
        assert len(scores) == (min(len(found), DEPTH) if question.strip("? ") else 0)
        assert scores == sorted(scores, reverse=True)
    assert len({c.chunk_id for c in found}) == len(found)
    for ranks in ([c.dense_rank for c in found], [c.bm25_rank for c in found]):
        present = sorted(rank for rank in ranks if rank is not None)
        assert present == list(range(1, len(present) + 1))
    for c in found:
        assert scope.admits(c.chunk.document)
        assert (c.bm25_rank is None) == (c.bm25_score is None)
        assert c.bm25_score is None or c.bm25_score > 0
        vector = snapshot.vectors([c.chunk_id])[0]
        assert c.distance == pytest.approx(1 - float(vector @ EMBEDDER.embed_question(question)), abs=1e-6)
    assert trace.nearest == (min(c.distance for c in found) if found else None)
    assert trace.refused == all(c.distance > threshold for c in found)
    assert trace.literal is None or (trace.refused and trace.literal.candidate == found[0])


def test_a_prime_number_is_not_in_the_cooking_notes() -> None:
    trace = retriever().retrieve("is 17 a prime number?", Scope(prefix="cooking/"))
    assert trace.refused
    assert trace.sources == ()
    assert trace.nearest is not None
    assert trace.nearest > 0.65
    assert {c.verdict for c in trace.candidates} == {"too far"}
    assert trace.literal is None


def test_what_was_asked_before_is_no_evidence() -> None:
    ours = retriever()
    assert documents(ours.retrieve("lease ends")) == ["house/lease.md"]
    after = ours.retrieve("why is sky blue")
    assert after.refused
    fresh = retriever().retrieve("why is sky blue")
    assert after.candidates == fresh.candidates


@pytest.mark.parametrize("question", ["hello", "thanks!", "blorpt fnargle", "...", "?"])
def test_small_talk_and_gibberish_have_no_sources(question: str) -> None:
    trace = retriever().retrieve(question)
    assert trace.refused
    assert trace.literal is None


def test_gibberish_lies_clearly_farther_than_a_hit() -> None:
    ours = retriever()
    hit = ours.retrieve("the lease ends on").nearest
    gibberish = ours.retrieve("blorpt fnargle quimsy").nearest
    assert hit is not None
    assert gibberish is not None
    assert gibberish > hit + 0.2


def test_a_filter_does_not_lift_the_threshold() -> None:
    ours = retriever()
    assert documents(ours.retrieve("lease ends")) == ["house/lease.md"]
    elsewhere = ours.retrieve("lease ends", Scope(documents=frozenset({"cooking/cake.md"})))
    assert elsewhere.refused
    assert [c.chunk.document for c in elsewhere.candidates] == ["cooking/cake.md"]


def test_a_japanese_note_is_found_by_two_words() -> None:
    notes = [*NOTES, passage("次の会議は金曜日です。議事録は田中が書きます。", "会議.md")]
    trace = retriever(notes=notes).retrieve("会議 議事録")
    ranked = [c for c in trace.candidates if c.bm25_rank is not None]
    assert ranked[0].chunk.document == "会議.md"
    assert trace.candidates[0].chunk.document == "会議.md"


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("multi-agent", "We tried a multi-agent planner."),
        ("don't", "The pumps don't start in winter."),
        ("20.04", "The server still runs Ubuntu 20.04 today."),
        ("C++", "The solver is written in C++ since May."),
        ("E1234", "It shows E1234 when it fails."),
    ],
)
def test_awkward_words_are_found_word_for_word(question: str, held: str) -> None:
    trace = retriever(notes=[*NOTES[:3], passage(held, "wanted.md")]).retrieve(question)
    assert trace.candidates[0].chunk.document == "wanted.md"
    assert trace.candidates[0].bm25_rank == 1


@pytest.mark.parametrize(
    "question", ['"', '"""', "C++ (", "'; DROP TABLE chunks; --", "\x00\x1b[2J", "a" * 20_000]
)
def test_odd_questions_do_no_harm(question: str) -> None:
    trace = retriever().retrieve(question)
    assert trace.question == question
    assert trace.refused


def test_a_question_that_the_terminal_could_not_decode() -> None:
    question = "lease \udcff ends"
    trace = retriever().retrieve(question)
    assert trace.question == question
    assert trace.candidates[0].chunk.document == "house/lease.md"


def test_keywords_find_without_every_word() -> None:
    trace = retriever(threshold=0.7).retrieve("what is the passport office address?")
    assert documents(trace)[0] == "papers.md"


@pytest.mark.parametrize("question", ["", "   ", "\n\t", "\u3000", "\u200b\u2060", "\x00\x07"])
def test_an_empty_question_is_an_error_with_a_way_out(question: str) -> None:
    with pytest.raises(UsageError) as raised:
        retriever().retrieve(question)
    assert raised.value.hint


def test_a_question_that_would_keep_the_encoder_busy_for_minutes_is_an_error() -> None:
    assert retriever().retrieve("lease " * (LONGEST_QUESTION // 6)).candidates
    with pytest.raises(UsageError, match="20,004 characters"):
        retriever().retrieve("lease " * 3334)


def test_an_empty_index_refuses_without_a_nearest() -> None:
    trace = retriever(notes=[]).retrieve("anything at all")
    assert trace.refused
    assert trace.candidates == ()
    assert trace.nearest is None
    assert trace.literal is None


def test_vectors_of_two_embedders_are_never_compared() -> None:
    other = WordEmbedder(name="other-words")
    with pytest.raises(IndexStale) as raised:
        Retriever(MemorySnapshot(NOTES, EMBEDDER), other, RetrievalSettings(), Threshold(0.5, "setting"))
    assert "made by words (" in raised.value.message
    assert "use is other-words (" in raised.value.message
    assert raised.value.hint == "ragchat index --rebuild"


def test_the_same_model_with_another_size_says_what_differs() -> None:
    other = WordEmbedder(dimensions=128)
    with pytest.raises(IndexStale, match=r"words \(dimensions 256\).*words \(dimensions 128\)"):
        Retriever(MemorySnapshot(NOTES, EMBEDDER), other, RetrievalSettings(), Threshold(0.5, "setting"))


def test_a_vector_that_is_no_number_is_neither_evidence_nor_nearest() -> None:
    vectors = EMBEDDER.embed_passages([note.text for note in NOTES])
    vectors[2] = np.nan
    snapshot = MemorySnapshot(NOTES, EMBEDDER, vectors)
    trace = Retriever(snapshot, EMBEDDER, RetrievalSettings(), Threshold(2.0, "setting")).retrieve(
        "the lease ends"
    )
    lease = next(c for c in trace.candidates if c.chunk.document == "house/lease.md")
    assert math.isnan(lease.distance)
    assert lease.verdict == "too far"
    assert trace.nearest is not None
    assert not math.isnan(trace.nearest)


def test_only_what_bm25_found_has_a_distance_too() -> None:
    # The cosine prefers the note that repeats "the", BM25 the one with the rare code.
    trace = retriever(candidates=1).retrieve("the the the the E1234")
    lexical = next(c for c in trace.candidates if c.dense_rank is None)
    assert lexical.chunk.document == "house/boiler.md"
    vector = EMBEDDER.embed_passages([lexical.chunk.text])[0]
    expected = 1 - float(vector @ EMBEDDER.embed_question("the the the the E1234"))
    assert lexical.distance == pytest.approx(expected, abs=1e-6)


def test_timings_are_measured() -> None:
    timings = retriever().retrieve("the lease ends").timings_ms
    assert set(timings) == {"embed", "search", "rerank"}
    assert timings["embed"] > 0
    assert timings["search"] > 0


def test_a_refused_literal_passage_comes_first_and_can_be_let_through() -> None:
    question = "what could E1234 possibly mean for somebody like me"
    ours = retriever(threshold=0.3)
    refused = ours.retrieve(question)
    assert refused.refused
    assert refused.literal is not None
    assert refused.literal.term == "E1234"
    assert refused.candidates[0] == refused.literal.candidate
    assert refused.candidates[0].chunk.document == "house/boiler.md"
    assert refused.candidates[0].verdict == "too far"

    admitted = ours.retrieve(question, admit=frozenset({refused.literal.candidate.chunk_id}))
    assert documents(admitted) == ["house/boiler.md"]
    assert admitted.candidates[0].number == 1
    assert admitted.literal is not None
    assert admitted.literal.term == "E1234"
    assert admitted.past_gate == admitted.sources[:1]
    assert admitted.threshold == refused.threshold


def test_a_literal_passage_that_no_search_proposed_is_fetched() -> None:
    # One candidate of each search, and both prefer the lease: the passage with the code is none of them.
    question = "the lease ends on 31 March 2027 with two months notice and E1234"
    far = retriever(threshold=0.01, candidates=1).retrieve(question)
    assert far.literal is not None
    assert far.candidates[0].chunk.document == "house/boiler.md"
    assert far.candidates[0].dense_rank is None
    assert sorted(c.fused_rank for c in far.candidates) == list(range(1, len(far.candidates) + 1))
    assert far.candidates[0].fused_rank == 1


def test_an_answered_question_has_no_literal_offer() -> None:
    trace = retriever(threshold=1.5).retrieve("what does E1234 mean")
    assert not trace.refused
    assert trace.literal is None


class Backwards:
    """A reranker that likes the last note best."""

    def scores(self, question: str, chunks: Sequence[Chunk]) -> Sequence[float]:
        return [100.0 * NOTES.index(chunk) for chunk in chunks]


def test_a_reranker_orders_and_the_distance_still_judges() -> None:
    snapshot = MemorySnapshot(NOTES, EMBEDDER)
    found = Retriever(
        snapshot, EMBEDDER, RetrievalSettings(), Threshold(0.65, "setting"), Backwards()
    ).retrieve("lease ends")
    assert [c.chunk.document for c in found.candidates] == [note.document for note in reversed(NOTES)]
    assert [c.rerank_score for c in found.candidates] == [400.0, 300.0, 200.0, 100.0, 0.0]
    assert documents(found) == ["house/lease.md"]
    assert found.sources[0].fused_rank == 1


@pytest.mark.parametrize("settings", [RetrievalSettings(rerank="off"), RetrievalSettings()])
def test_without_token_vectors_the_fused_order_stands(settings: RetrievalSettings) -> None:
    embedder = WordEmbedder(token_dimensions=0 if settings.rerank == "late" else 128)
    snapshot = MemorySnapshot(NOTES, embedder)
    trace = Retriever(snapshot, embedder, settings, Threshold(0.65, "setting")).retrieve("the lease ends")
    assert [c.fused_rank for c in trace.candidates] == [1, 2, 3, 4, 5]
    assert {c.rerank_score for c in trace.candidates} == {None}


def test_the_passage_that_meets_every_word_comes_first() -> None:
    # Both searches prefer the short note that repeats one word; only the other has all three.
    scattered = "The spare key for the shed hangs in the hall beside the old clock and the blue coats. " * 2
    notes = [passage("Shed shed shed.", "short.md"), passage(scattered, "long.md"), *NOTES]
    first = {
        rerank: retriever(notes=notes, rerank=rerank).retrieve("shed key clock").candidates[0].chunk.document
        for rerank in ("off", "late")
    }
    assert first["late"] == "long.md"


class Forgetful(MemorySnapshot):
    """Proposes the farthest first, as an approximate index does at its worst, unless told to be exact."""

    @property
    def approximate(self) -> bool:
        return True

    def dense(self, question: Vector, limit: int, scope: Scope, *, exact: bool = False) -> list[Hit]:
        found = super().dense(question, len(self.ids), scope)
        return found[:limit] if exact else found[-1:]

    def lexical(self, tokens: Sequence[str], limit: int, scope: Scope) -> list[Hit]:
        return []


def test_what_an_approximate_search_missed_is_no_refusal() -> None:
    snapshot = Forgetful(NOTES, EMBEDDER)
    asked = Retriever(snapshot, EMBEDDER, RetrievalSettings(), Threshold(0.65, "setting"))
    assert documents(asked.retrieve("When does the lease end, on 31 March 2027?")) == ["house/lease.md"]
    assert asked.retrieve("quantum chromodynamics").refused


def many_notes() -> list[Chunk]:
    """Sixty notes of usual English, so that a threshold is measured, and the five above."""
    told = "what is the best way to see it, and how many are in a {0} or for the {0} of the {1}?"
    return [*NOTES, *(passage(told.format(f"shed{n}", f"loom{n}"), f"many/{n}.md") for n in range(60))]


@pytest.fixture(scope="module")
def measured() -> tuple[MemorySnapshot, Threshold]:
    snapshot = MemorySnapshot(many_notes(), EMBEDDER)
    asked = [asked_with(EMBEDDER, question) for question in load_off_topic_questions()[::4]]
    return snapshot, calibrate(snapshot, asked, RetrievalSettings())


@pytest.mark.parametrize("rerank", ["late", "off"])
def test_the_measured_threshold_moves_with_the_question(measured: Any, rerank: Any) -> None:
    snapshot, threshold = measured
    ours = Retriever(snapshot, EMBEDDER, RetrievalSettings(rerank=rerank), threshold)
    met = ours.retrieve("The lease ends on 31 March 2027 with two months notice?")
    beside = ours.retrieve("What do two months of a yacht in Peru cost?")
    gate = next(gate for gate in threshold.gates if (gate.kind == "late") == (rerank == "late"))
    for trace in (met, beside):
        assert trace.threshold.origin == "auto"
        assert trace.threshold.folders == gate.base
    assert met.threshold.value > beside.threshold.value
    assert documents(met)[0] == "house/lease.md"


def test_a_number_that_the_user_sets_never_moves(measured: Any) -> None:
    snapshot, _ = measured
    fixed = Threshold(0.3, "setting", "fixed at 0.300 in the settings")
    for question in ("the lease ends", "who owns the moon"):
        trace = Retriever(snapshot, EMBEDDER, RetrievalSettings(), fixed).retrieve(question)
        assert trace.threshold == fixed


def test_competitors_out_of_the_scope_lift_no_threshold(measured: Any) -> None:
    snapshot, threshold = measured
    ours = Retriever(snapshot, EMBEDDER, RetrievalSettings(), threshold)
    for question in ("the lease ends", "lentils with cumin", "where is the shed1 of the loom2"):
        inside = ours.retrieve(question, Scope(prefix="cooking/")).threshold
        assert all(part.shift <= 0 for part in inside.parts if part.name == STANDING_OUT)


def test_a_code_that_cosine_alone_would_drop_is_admitted_by_its_word(measured: Any) -> None:
    snapshot, threshold = measured
    trace = Retriever(snapshot, EMBEDDER, RetrievalSettings(), threshold).retrieve("boiler shows E1234")
    assert documents(trace)[0] == "house/boiler.md"
    assert trace.nearest is not None
    assert threshold.value < trace.nearest <= trace.threshold.value


LONG = "what could it mean for somebody like me, and what is the best way to do it, if {} is what I see?"


@pytest.mark.parametrize("rerank", ["late", "off"])
def test_a_code_lifts_the_threshold_and_a_name_does_not(measured: Any, rerank: Any) -> None:
    snapshot, threshold = measured
    ours = Retriever(snapshot, EMBEDDER, RetrievalSettings(rerank=rerank), threshold)
    code = ours.retrieve(LONG.format("E1234"))
    assert code.threshold.parts[-1].name == "literal E1234"
    assert code.threshold.parts[-1].shift > 0
    name = ours.retrieve(LONG.format("Oyelaran"))
    assert name.refused
    assert name.literal is not None
    assert not [part for part in name.threshold.parts if part.name.startswith("literal")]
    unknown = ours.retrieve(LONG.format("E9999"))
    assert not [part for part in unknown.threshold.parts if part.name.startswith("literal")]


def test_in_a_script_that_the_embedder_cannot_read_words_decide_the_order() -> None:
    notes = [
        *NOTES,
        passage("次の会議は金曜日です。議事録は田中が書きます。", "会議.md"),
        passage("家賃は毎月払います。会議は別の日です。", "家賃.md"),
    ]
    english, other = WordEmbedder(name=MINILM.name), WordEmbedder(name="another")
    for embedder, scored in ((english, False), (other, True)):
        snapshot = MemorySnapshot(notes, embedder)
        ours = Retriever(snapshot, embedder, RetrievalSettings(), Threshold(1.0, "setting"))
        found = ours.retrieve("議事録は誰が書きますか").candidates
        assert any(candidate.rerank_score is not None for candidate in found) == scored
        if embedder is english:
            ranks = [candidate.bm25_rank for candidate in found]
            assert ranks[:2] == [1, 2]
            assert [candidate.fused_rank for candidate in found] == list(range(1, len(found) + 1))
        assert ours.retrieve("the lease ends").candidates[0].rerank_score is not None


def test_what_words_put_first_is_sent_once_such_a_question_has_passed() -> None:
    # The first note alone holds the words; the second is all but the question's own vector.
    notes = [passage("議事録 は 田中 が 書きます", "会議.md"), passage("はは", "日記.md")]
    embedder = WordEmbedder(name=MINILM.name)
    question = "議事録は誰が書きますか"
    near = embedder.embed_question(question)
    vectors = np.stack([embedder.embed_question("zebra"), near])
    snapshot = MemorySnapshot(notes, embedder, vectors)
    usual = Usual(0.0, 0.0, 1.0)
    others = dict.fromkeys(gate_weights()["plain"], Usual(0.0, 0.0, 1.0, weight=0.0))
    gate = FolderGate("plain", 0.2, 0.2, 2.0, usual, others, farthest=0.9, reach=0.9)
    threshold = Threshold(0.2, "auto", "", gates=(gate,))
    trace = Retriever(snapshot, embedder, RetrievalSettings(), threshold).retrieve(question)
    assert [source.chunk.document for source in trace.sources] == ["会議.md", "日記.md"]
    assert trace.sources[0].distance <= trace.threshold.value
    far = replace(threshold, gates=(replace(gate, base=-1.0),))
    assert Retriever(snapshot, embedder, RetrievalSettings(), far).retrieve(question).refused
