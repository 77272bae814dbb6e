"""Marks made in use become a question file that `eval` reads."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragchat.documents.reader import parse_document
from ragchat.errors import StorageFailed, UsageError
from ragchat.evaluation.collection import Collection, Counts
from ragchat.evaluation.gold import load_questions
from ragchat.evaluation.questions import Gold, QuestionSet

TEXT = "# Lease\n\nIt ends in March. Unless renewed.\nÆ\u2028end\n"


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAGCHAT_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "notes"


def collected(collection: Collection) -> QuestionSet:
    return load_questions([collection.path], ["lease.md"], lambda name: parse_document(TEXT.encode(), name))


def mark(collection: Collection, question: str, start: int, end: int) -> str:
    return collection.mark_answer(question, "lease.md", start, end, TEXT[start:end])


def test_what_is_marked_can_be_evaluated(notes: Path) -> None:
    collection = Collection(notes)
    assert mark(collection, "When does it end?", 9, 27) == "added"  # with the space after the sentence
    assert collection.mark_refused("Who\npays?") == "added"
    found = collected(collection)
    assert found.problems == ()
    when, who = found.questions
    assert when.golds == (Gold("lease.md", 9, 26),)
    assert (who.text, who.nearness) == ("Who\npays?", "near")
    assert collection.counts() == Counts(1, 1)
    assert collection.path.stat().st_mode & 0o077 == 0


def test_a_second_range_is_a_further_span_of_the_answer(notes: Path) -> None:
    collection = Collection(notes)
    mark(collection, "When?", 9, 26)
    assert mark(collection, " when? ", 27, 42) == "span added"
    assert mark(collection, "When?", 27, 42) == "unchanged"
    (when,) = collected(collection).questions
    assert when.golds == (Gold("lease.md", 9, 26), Gold("lease.md", 27, 42))


def test_a_range_within_or_around_a_kept_one_takes_its_place(notes: Path) -> None:
    collection = Collection(notes)
    mark(collection, "When?", 9, 42)
    assert mark(collection, "When?", 9, 26) == "span replaced"
    (when,) = collected(collection).questions
    assert when.golds == (Gold("lease.md", 9, 26),)
    mark(collection, "When?", 30, 42)
    assert mark(collection, "When?", 27, 42) == "span replaced"
    (when,) = collected(collection).questions
    assert when.golds == (Gold("lease.md", 9, 26), Gold("lease.md", 27, 42))
    assert mark(collection, "When?", 9, 42) == "span replaced"
    assert collection.undo()
    (when,) = collected(collection).questions
    assert when.golds == (Gold("lease.md", 9, 26), Gold("lease.md", 27, 42))


def test_a_span_that_a_person_wrote_as_words_alone_stays_beside_a_new_one(notes: Path) -> None:
    collection = Collection(notes)
    mark(collection, "When?", 9, 42)
    (line,) = collection.path.read_text().splitlines()
    record = json.loads(line) | {"note": "mine"}
    del record["from"], record["to"]
    collection.path.write_text(json.dumps(record) + "\n")
    assert mark(collection, "When?", 9, 26) == "span added"
    assert json.loads(collection.path.read_text())["note"] == "mine"


def test_the_last_mark_holds_and_can_be_taken_back(notes: Path) -> None:
    collection = Collection(notes)
    mark(collection, "When?", 9, 26)
    assert collection.mark_refused("When?") == "replaced"
    assert collection.mark_refused("When?") == "unchanged"
    assert collection.counts() == Counts(0, 1)
    assert mark(collection, "When?", 9, 26) == "replaced"
    assert collection.unmark("WHEN?")
    assert not collection.unmark("When?")
    assert collection.counts() == Counts(0, 0)


def test_what_a_person_wrote_into_the_file_stays(notes: Path) -> None:
    collection = Collection(notes)
    mark(collection, "When?", 9, 26)
    with collection.path.open("ab") as file:
        file.write(b"\xff not json\n")
    collection.mark_refused("Who?")
    lines = collection.path.read_bytes().split(b"\n")
    assert lines[1] == b"\xff not json"
    assert json.loads(lines[2])["answerable"] is False
    assert collection.counts() == Counts(1, 1)


def test_nothing_is_marked_without_words(notes: Path) -> None:
    collection = Collection(notes)
    for question, start, end in (("  \u200b", 9, 26), ("When?", 26, 27), ("When?", 9, 9)):
        with pytest.raises(UsageError):
            mark(collection, question, start, end)
    with pytest.raises(UsageError):
        collection.mark_answer("When?", "lease.md", 9, 12, "It ends")
    assert not collection.path.exists()


def test_a_folder_that_cannot_be_written_is_said(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file in the way")
    with pytest.raises(StorageFailed, match="cannot be kept"):
        Collection(notes).mark_refused("Who?")


def test_several_at_once_lose_nothing(notes: Path) -> None:
    def mark_some(worker: int) -> None:
        for number in range(10):
            Collection(notes).mark_refused(f"question {worker} {number}")

    threads = [threading.Thread(target=mark_some, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Collection(notes).counts() == Counts(0, 40)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=20))
def test_any_question_that_can_be_typed_can_be_marked(notes: Path, question: str) -> None:
    collection = Collection(notes)
    try:
        collection.mark_refused(question)
    except UsageError:
        return
    found = collected(collection)
    assert found.problems == ()
    assert question.encode("utf-8", "replace").decode().casefold().split() in [
        one.text.casefold().split() for one in found.questions
    ]
