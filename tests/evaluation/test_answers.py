"""What an answer did with what it was sent: two faults that are never mixed up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragchat.answering.citations import attach_citations
from ragchat.answering.events import Answer, Support
from ragchat.answering.outcome import blank
from ragchat.evaluation.answers import Deed, Sent, count_deeds, judge_answer
from ragchat.evaluation.questions import Question
from ragchat.evaluation.report import answers_json
from ragchat.evaluation.wording import answers_lines, answers_table
from tests.evaluation.making import asked, candidate, chunk_at, trace_of

QUESTION = asked("q", (0, 40))
STRANGER = asked("s", kind="far")


def answered(text: str, *, gold: bool = True) -> Answer:
    other = candidate(chunk_at(100, 200), 1, sent=True)
    golden = candidate(chunk_at(20, 90), 2, sent=True)  # half of the gold span
    trace = trace_of([other, golden] if gold else [other])
    citations = attach_citations(text, len(trace.sources))
    return replace(blank(trace), text=text, answered_by="model", citations=citations)


@pytest.mark.parametrize(
    ("question", "answer", "sent", "deed"),
    [
        (QUESTION, answered("It ends [2]."), "gold sent", "cites the gold"),
        (QUESTION, answered("It ends [1][2]."), "gold sent", "cites the gold"),
        (QUESTION, answered("It ends [1]."), "gold sent", "cites others"),
        (QUESTION, answered("It ends."), "gold sent", "cites nothing"),
        (QUESTION, answered("It ends [9]."), "gold sent", "cites nothing"),
        (QUESTION, replace(answered("Nothing there."), abstained=True), "gold sent", "abstained"),
        (QUESTION, answered("It ends [1].", gold=False), "gold not sent", "cites others"),
        (QUESTION, replace(answered(""), outcome="failed"), "gold sent", "failed"),
        (STRANGER, answered("It ends [1]."), "no gold", "cites others"),
        (STRANGER, replace(answered("x", gold=False), outcome="refused"), "no gold", "refused"),
    ],
)
def test_sent_or_not_and_what_was_done(question: Question, answer: Answer, sent: Sent, deed: Deed) -> None:
    judged = judge_answer(question, answer)
    assert (judged.sent, judged.deed) == (sent, deed)


def test_the_two_faults_are_told_apart() -> None:
    found = Support(0, 9, (1,), found=True)
    judged = [
        judge_answer(QUESTION, answered("It ends [2]."), (found, replace(found, found=False))),
        judge_answer(QUESTION, answered("It ends [9]."), (replace(found, found=None),)),
        judge_answer(QUESTION, answered("It ends [1].", gold=False)),
        judge_answer(STRANGER, replace(answered("x"), outcome="refused")),
    ]
    deeds = count_deeds(judged)
    shares = (deeds.cited, deeds.invalid, deeds.abstained, deeds.found)
    assert [share and (round(share.value, 3), share.trials) for share in shares] == [
        (0.667, 3),
        (0.333, 3),
        (0.0, 3),
        (0.5, 2),
    ]
    told = answers_json(judged, "qwen3:4b")
    assert told["table"]["gold sent"]["cites the gold"] == 1
    assert "not retrieved: 1; retrieved but ignored: 1" in answers_lines(told)
    assert [row[0] for row in answers_table(told)] == ["", "gold sent", "gold not sent", "no gold"]


def test_nothing_answered_is_nothing_known() -> None:
    told = answers_json([], "none")
    assert (told["cited"], told["sentences_found"]) == (None, None)
    assert answers_lines(told)[-1] == "not retrieved: 0; retrieved but ignored: 0"
