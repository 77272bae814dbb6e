"""Several conversations of one folder: listed, searched, named, branched, and never lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from ragchat.answering.conversation import Conversation
from ragchat.answering.conversations import FIRST, Conversations
from ragchat.answering.outcome import blank
from ragchat.errors import UsageError
from tests.answering.making import a_trace


def ask(conversation: Conversation, question: str, text: str = "In March [1].") -> str:
    from dataclasses import replace

    return conversation.keep(replace(blank(a_trace(question)), text=text)).id


def asked(conversation: Conversation) -> list[str]:
    return [turn.question for turn in conversation.turns()]


@pytest.fixture
def kept(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path)


def test_the_conversation_of_earlier_versions_is_the_first_and_stays_where_it_is(
    kept: Conversations, tmp_path: Path
) -> None:
    ask(Conversation(tmp_path / "conversation.jsonl"), "an old question")
    assert kept.latest().id == FIRST
    assert asked(kept.latest()) == ["an old question"]
    ask(kept.begin(), "a new question")
    assert {summary.title for summary in kept.summaries()} == {"an old question", "a new question"}


def test_the_latest_is_the_one_used_last(kept: Conversations) -> None:
    first, second = kept.latest(), kept.begin()
    ask(first, "one")
    ask(second, "two")
    os.utime(first.path, (1, 1))
    assert kept.latest().id == second.id
    os.utime(second.path, (0, 0))
    assert kept.latest().id == first.id


def test_a_new_one_leaves_no_file_before_its_first_turn(kept: Conversations) -> None:
    begun = kept.begin()
    assert begun.turns() == ()
    assert kept.summaries() == ()


def test_all_words_of_a_search_must_occur_somewhere(kept: Conversations) -> None:
    ask(kept.begin(), "When does the LEASE end?", "On 31 March [1].")
    ask(kept.begin(), "家賃はいくらですか", "九万円 [1]")
    assert [s.title for s in kept.summaries("lease march")] == ["When does the LEASE end?"]
    assert [s.title for s in kept.summaries("家賃")] == ["家賃はいくらですか"]
    assert kept.summaries("lease 家賃") == ()


def test_a_title_is_kept_and_can_be_taken_away_again(kept: Conversations) -> None:
    conversation = kept.begin()
    ask(conversation, "first\nquestion")
    assert conversation.title() == "first question"
    conversation.rename("The \x1b[31m flat\n")
    assert conversation.title() == "The \\x1b[31m flat"
    assert asked(conversation) == ["first\nquestion"]
    assert [summary.title for summary in kept.summaries("flat")] == ["The \\x1b[31m flat"]
    conversation.rename("")
    assert conversation.title() == "first question"


def test_a_deleted_turn_is_gone_from_the_disk_and_the_others_stay(kept: Conversations) -> None:
    conversation = kept.begin()
    ids = [ask(conversation, question) for question in ("one", "secret", "three")]
    conversation.rename("kept title")
    conversation.delete(ids[1])
    assert asked(conversation) == ["one", "three"]
    assert conversation.title() == "kept title"
    assert b"secret" not in conversation.path.read_bytes()
    conversation.delete("no such id")
    assert asked(conversation) == ["one", "three"]


def test_a_turn_of_an_earlier_version_can_be_deleted_too(kept: Conversations, tmp_path: Path) -> None:
    first = Conversation(tmp_path / "conversation.jsonl")
    ask(first, "one")
    line = first.path.read_text()
    first.path.write_text(line.replace(f', "id": "{first.turns()[0].id}"', "") + line)
    old, new = first.turns()
    assert old.id != new.id
    first.delete(old.id)
    assert [turn.id for turn in first.turns()] == [new.id]


def test_a_branch_begins_with_the_turns_up_to_one_and_leaves_the_other_as_it_was(kept: Conversations) -> None:
    conversation = kept.begin()
    ids = [ask(conversation, question) for question in ("one", "two", "three")]
    branched = kept.branch(conversation, ids[1])
    ask(branched, "another way")
    assert asked(branched) == ["one", "two", "another way"]
    assert asked(conversation) == ["one", "two", "three"]
    assert branched.title() == "one (branch)"


def test_a_name_from_outside_leads_nowhere_else(kept: Conversations) -> None:
    for name in ("../../etc/passwd", "", "a/b", "x" * 300):
        with pytest.raises(UsageError):
            kept.open(name)


def _keep_and_delete(path: Path) -> None:
    conversation = Conversation(path)
    while True:
        conversation.delete(ask(conversation, "passing"))
        ask(conversation, "staying")


def test_a_kill_at_any_moment_loses_no_turn_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "conversations" / "abcdef.jsonl"
    conversation = Conversation(path)
    ask(conversation, "before")
    spawn = multiprocessing.get_context("spawn")
    seen = 0
    for times in range(3):
        process = spawn.Process(target=_keep_and_delete, args=(path,))
        process.start()
        deadline = time.monotonic() + 60
        while asked(conversation).count("staying") < seen + 3 + times:
            assert time.monotonic() < deadline
            time.sleep(0.003)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        questions = asked(conversation)
        assert questions[0] == "before"
        assert questions.count("staying") >= seen + 3 + times
        seen = questions.count("staying")
    ask(conversation, "after")
    assert asked(conversation)[-1] == "after"
