"""What a trace amounts to: ranks of the gold by every criterion and in every ranking."""

from __future__ import annotations

import math
from dataclasses import replace

from ragchat.evaluation.outcome import observe
from tests.evaluation.making import asked, candidate, chunk_at, trace_of


def test_the_whole_span_must_lie_in_one_chunk() -> None:
    # The span 40-80 is cut at 50: no chunk holds it whole, the second holds three quarters of it.
    found = observe(
        asked("q", (40, 80)),
        trace_of([candidate(chunk_at(0, 50), 1), candidate(chunk_at(50, 100), 2)]),
    ).ranks["ragchat"]
    assert (found.whole, found.every, found.half, found.document) == (None, None, 2, 1)


def test_half_a_span_is_half() -> None:
    found = observe(asked("q", (40, 60)), trace_of([candidate(chunk_at(0, 50), 1)])).ranks["ragchat"]
    assert (found.whole, found.half) == (None, 1)
    found = observe(asked("q", (41, 61)), trace_of([candidate(chunk_at(0, 50), 1)])).ranks["ragchat"]
    assert found.half is None


def test_what_is_sent_with_a_passage_counts_as_found_in_it() -> None:
    overlapping = replace(chunk_at(50, 100), context_start=40)
    found = observe(asked("q", (40, 80)), trace_of([candidate(overlapping, 1)])).ranks["ragchat"]
    assert (found.whole, found.characters) == (1, (60,))


def test_a_condition_and_its_exception_are_both_wanted() -> None:
    chunks = [chunk_at(0, 50), chunk_at(50, 100), chunk_at(100, 150)]
    trace = trace_of([candidate(chunk, rank) for rank, chunk in enumerate(chunks, 1)])
    found = observe(asked("q", (0, 10), (110, 120)), trace).ranks["ragchat"]
    assert (found.whole, found.every) == (1, 3)
    found = observe(asked("q", (0, 10), (210, 220)), trace).ranks["ragchat"]
    assert (found.whole, found.every) == (1, None)


def test_another_documents_range_is_no_hit() -> None:
    trace = trace_of([candidate(chunk_at(0, 50, "other.md"), 1)])
    found = observe(asked("q", (0, 10)), trace).ranks["ragchat"]
    assert (found.whole, found.half, found.document) == (None, None, None)


def test_each_ranking_has_its_own_order_and_its_own_candidates() -> None:
    gold, other = chunk_at(0, 50), chunk_at(50, 100)
    trace = trace_of([candidate(other, 1, dense=1), candidate(gold, 2, dense=2, bm25=1)])
    ranks = observe(asked("q", (0, 10)), trace).ranks
    assert {name: found.whole for name, found in ranks.items()} == {
        "dense": 2,
        "bm25": 1,
        "hybrid": 2,
        "ragchat": 2,
    }
    assert ranks["bm25"].characters == (50,)
    assert ranks["dense"].characters == (50, 100)
    assert ranks["dense"].tokens == (8, 16)  # without the header's


def test_a_reranked_order_is_ragchats_not_the_fusions() -> None:
    gold, other = chunk_at(0, 50), chunk_at(50, 100)
    # The reranker put the fusion's second in front.
    ranks = observe(asked("q", (0, 10)), trace_of([candidate(gold, 2), candidate(other, 1)])).ranks
    assert (ranks["ragchat"].whole, ranks["hybrid"].whole) == (1, 2)


def test_what_was_sent_and_refused_is_the_traces_word() -> None:
    sent = candidate(chunk_at(0, 50), 1, distance=0.3, sent=True)
    outcome = observe(asked("q", (0, 10), (60, 70)), trace_of([sent, candidate(chunk_at(50, 100), 2)]))
    assert (outcome.refused, outcome.sent, outcome.sent_whole, outcome.sent_every) == (False, 1, True, False)
    assert (outcome.nearest, outcome.threshold, outcome.milliseconds) == (0.3, 0.5, 4.0)
    assert math.isclose(outcome.excess, -0.2)


def test_an_empty_index_refuses_and_lies_infinitely_far() -> None:
    outcome = observe(asked("q", (0, 10)), trace_of([]))
    assert outcome.refused
    assert outcome.nearest == math.inf
    assert outcome.ranks["dense"].characters == ()
