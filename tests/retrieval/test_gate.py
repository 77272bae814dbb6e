from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from ragchat.chunking.chunk import Chunk
from ragchat.retrieval.gate import judge, same_passage
from ragchat.retrieval.trace import Candidate
from tests.retrieval.doubles import passage


def candidate(chunk_id: int, distance: float, chunk: Chunk | None = None) -> Candidate:
    return Candidate(
        chunk_id=chunk_id,
        chunk=chunk or passage(f"passage {chunk_id}", f"{chunk_id}.md"),
        distance=distance,
        dense_rank=None,
        bm25_rank=None,
        bm25_score=None,
        fused_rank=1,
        rerank_score=None,
        verdict="too far",
    )


words = st.sampled_from(["the lease ends", "the cat sleeps", "rice and beans", "the  lease ends"])


@st.composite
def candidates(draw: st.DrawFn) -> list[Candidate]:
    made = []
    for chunk_id in range(draw(st.integers(0, 12))):
        chunk = passage(draw(words), draw(st.sampled_from("ab")), start=draw(st.integers(0, 60)))
        distance = draw(st.floats(0, 2) | st.just(math.nan))
        made.append(candidate(chunk_id, distance, chunk))
    return made


thresholds = st.floats(0, 2)
limits = st.integers(1, 6)
admitted = st.frozensets(st.integers(0, 12))


@given(candidates(), thresholds, limits, admitted)
def test_nothing_is_lost_or_moved_and_numbers_run_from_one(
    given_candidates: list[Candidate], threshold: float, limit: int, admit: frozenset[int]
) -> None:
    judged = judge(given_candidates, threshold, limit, admit)
    assert [c.chunk_id for c in judged] == [c.chunk_id for c in given_candidates]
    sent = [c for c in judged if c.verdict == "sent"]
    assert [c.number for c in sent] == list(range(1, len(sent) + 1))
    assert all(c.number is None for c in judged if c.verdict != "sent")
    assert len(sent) <= limit


@given(candidates(), thresholds, limits)
def test_distance_alone_lets_in(given_candidates: list[Candidate], threshold: float, limit: int) -> None:
    for c in judge(given_candidates, threshold, limit):
        assert (c.verdict == "too far") == (not c.distance <= threshold)


@given(candidates(), thresholds, limits, admitted)
def test_no_two_sources_show_the_same_words(
    given_candidates: list[Candidate], threshold: float, limit: int, admit: frozenset[int]
) -> None:
    judged = judge(given_candidates, threshold, limit, admit)
    sent = [c.chunk for c in judged if c.verdict == "sent"]
    assert not any(same_passage(one, other) for i, one in enumerate(sent) for other in sent[:i])
    for c in judged:
        if c.verdict == "duplicate":
            assert any(same_passage(c.chunk, chunk) for chunk in sent)


@given(candidates(), limits)
def test_a_wider_threshold_never_refuses_what_a_narrower_one_answers(
    given_candidates: list[Candidate], limit: int
) -> None:
    answered = [
        any(c.verdict == "sent" for c in judge(given_candidates, threshold / 10, limit))
        for threshold in range(21)
    ]
    assert answered == sorted(answered)


def test_a_distance_that_is_no_number_is_never_evidence_not_even_by_hand() -> None:
    assert judge([candidate(1, math.nan)], 2.0, 4)[0].verdict == "too far"
    assert judge([candidate(1, math.nan)], 2.0, 4, {1})[0].verdict == "too far"
    assert judge([candidate(1, 0.1)], math.nan, 4)[0].verdict == "too far"


def test_the_threshold_itself_is_near_enough() -> None:
    assert judge([candidate(1, 0.5)], 0.5, 4)[0].verdict == "sent"


def test_four_are_sent_in_fused_order_whatever_their_distances() -> None:
    judged = judge([candidate(i, d) for i, d in enumerate([0.4, 0.9, 0.3, 0.2, 0.45, 0.1])], 0.5, 4)
    assert [c.verdict for c in judged] == ["sent", "too far", "sent", "sent", "sent", "beyond top k"]
    assert [c.number for c in judged] == [1, None, 2, 3, 4, None]


def test_what_the_user_lets_through_is_sent_even_from_the_last_place() -> None:
    judged = judge([candidate(i, 0.1) for i in range(4)] + [candidate(9, 0.8)], 0.5, 4, {9})
    assert [c.verdict for c in judged] == ["sent", "sent", "sent", "beyond top k", "sent"]
    assert judged[4].number == 4


def test_a_copy_in_another_folder_with_other_newlines_takes_one_source() -> None:
    one = passage("Dial 112.\nThen wait.", "a/help.md")
    other = passage("Dial 112.\r\nThen wait.", "b/help.md", start=700)
    judged = judge([candidate(1, 0.1, one), candidate(2, 0.1, other)], 0.5, 4)
    assert [c.verdict for c in judged] == ["sent", "duplicate"]


def test_overlap_counts_from_half_of_the_shorter_range_in_the_same_document_only() -> None:
    long = passage("x" * 100, "a.md", start=0)
    assert same_passage(long, passage("y" * 20, "a.md", start=90))
    assert not same_passage(long, passage("y" * 20, "a.md", start=91))
    assert not same_passage(long, passage("y" * 20, "b.md", start=10))


def test_a_duplicate_of_what_was_too_far_is_judged_on_its_own_distance() -> None:
    words = passage("same words", "a.md"), passage("same words", "b.md")
    judged = judge([candidate(1, 0.9, words[0]), candidate(2, 0.2, words[1])], 0.5, 4)
    assert [c.verdict for c in judged] == ["too far", "sent"]


def test_identical_contents_take_one_place_and_name_every_document() -> None:
    twins = [candidate(at, 0.1 * at, passage("the lease ends", name)) for at, name in enumerate("cab", 1)]
    other = candidate(9, 0.2, passage("the cat sleeps", "d"))
    judged = judge([*twins, other], 0.25, 4)
    assert [(c.verdict, c.also_in) for c in judged] == [
        ("sent", ("a", "b")),
        ("duplicate", ()),
        ("too far", ()),
        ("sent", ()),
    ]
