"""Question files: both formats, and every way in which one can be wrong, with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reader import parse_document
from ragchat.errors import UsageError
from ragchat.evaluation.gold import load_questions
from ragchat.evaluation.questions import Gold, QuestionSet, thinned
from tests.evaluation.making import asked, write

LEASE = "# Lease\r\n\r\nIt ends in March.\r\nIt ends in March.\r\nDogs are\r\nnot allowed.\r\n"
NOTES = {
    "house/lease.md": LEASE.encode(),
    "cafe\u0301.md": "Coffee costs 3 €.".encode(),
    "broken.md": bytes(range(256)) * 8,
}


def loaded(*paths: Path) -> QuestionSet:
    def read(name: str) -> Document | FailedDocument:
        return parse_document(NOTES[name], name)

    return load_questions(paths, NOTES, read)


def lines(path: Path, *records: object) -> Path:
    return write(path, "\n".join(json.dumps(record) for record in records))


def problem(tmp_path: Path, record: object) -> str:
    """What is said of a single bad record."""
    found = loaded(lines(tmp_path / "q.jsonl", record))
    assert not found.questions
    (only,) = found.problems
    return str(only)


def test_jsonl_as_the_corpora_have_it(tmp_path: Path) -> None:
    found = loaded(
        lines(
            tmp_path / "q.jsonl",
            {
                "id": "a",
                "question": "Are dogs allowed?",
                "document": "house/lease.md",
                "evidence": LEASE[49:72],
                "from": 49,
                "to": 72,
                "answerable": True,
                "also": [
                    {"document": "house/lease.md", "evidence": "It ends in March.", "from": 11, "to": 28}
                ],
                "answer": "left alone",
            },
            {"question": "Who won?", "answerable": False, "document": None, "evidence": None, "kind": "far"},
        )
    )
    assert found.problems == ()
    dogs, won = found.questions
    assert dogs.golds == (Gold("house/lease.md", 49, 72), Gold("house/lease.md", 11, 28))
    assert (dogs.id, dogs.group, dogs.nearness) == ("a", "a", None)
    assert (won.id, won.golds, won.nearness) == ("q.jsonl:2", (), "far")


def test_toml_for_people(tmp_path: Path) -> None:
    text = """
        [[question]]
        question = ["Are dogs allowed?", "May I keep a dog?"]
        document = "house/lease.md"
        evidence = "Dogs are not allowed."

        [[question]]
        question = "Are cats?"
        answerable = false
        kind = "near miss"
    """
    found = loaded(write(tmp_path / "q.toml", text))
    assert found.problems == ()
    first, second, cats = found.questions
    # White space may differ; the range is the note's own.
    assert first.golds == second.golds == (Gold("house/lease.md", 49, 71),)
    assert (first.group, first.id, second.id) == (second.group, "q.toml:2", "q.toml:2/2")
    assert cats.nearness == "near"
    assert [question.text for question in found.unanswerable] == ["Are cats?"]


def test_an_accent_composed_otherwise_is_the_same_name(tmp_path: Path) -> None:
    record = {"question": "What does coffee cost?", "document": "caf\u00e9.md", "evidence": "3 €"}
    (question,) = loaded(lines(tmp_path / "q.jsonl", record)).questions
    assert question.golds[0].document == "cafe\u0301.md"


def test_an_edited_note_moves_the_range_but_not_the_words(tmp_path: Path) -> None:
    record = {"question": "?!", "document": "house/lease.md", "evidence": "not allowed", "from": 3, "to": 14}
    (question,) = loaded(lines(tmp_path / "q.jsonl", record)).questions
    gold = question.golds[0]
    assert LEASE[gold.start : gold.end] == "not allowed"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"evidence": "It ends in March."}, "stands in it 2 times; give from and to"),
        ({"evidence": "It ends in May."}, "does not stand in it"),
        ({"evidence": "Lease"}, "is a heading"),
        ({"evidence": None, "from": 70, "to": 900}, "the range ends at 900, the note at"),
        ({"evidence": None, "from": 9, "to": 9}, "is no range"),
        ({"evidence": None, "from": True, "to": 9}, "is no range"),
        ({"from": 3}, "from and to belong together"),
        ({"evidence": ""}, "evidence is missing"),
        ({"evidence": 7}, "evidence is a text"),
        ({"document": ""}, "document is missing"),
        ({"document": "other.md"}, "there is no note 'other.md'"),
        ({"document": "broken.md"}, "broken.md could not be read"),
        ({"document": "lease.md"}, "did you mean house/lease.md?"),
        ({"document": None, "docment": "house/lease.md"}, "'docment' stands there, write document"),
        ({"evidence": None, "evidense": "not allowed"}, "'evidense' stands there, write evidence"),
        ({"document": None, "anserable": False}, "'anserable' stands there, write answerable"),
        ({"question": " "}, "question is missing"),
        ({"question": []}, "question is missing"),
        ({"answerable": "no"}, "answerable is true or false"),
        ({"also": "It ends"}, "also is a list of spans"),
        ({"also": [{"evidence": "nowhere"}]}, "“nowhere” does not stand in it"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    right = {"question": "Dogs?", "document": "house/lease.md", "evidence": "not allowed"}
    told = problem(tmp_path, right | changed)
    assert told.startswith("q.jsonl:1: ")
    assert said in told


def test_a_line_that_is_no_record_costs_that_line_alone(tmp_path: Path) -> None:
    good = json.dumps({"question": "Who won?\u2028Tell me.", "answerable": False}, ensure_ascii=False)
    path = write(tmp_path / "q.jsonl", f"{{\n\n{good}\r\n[1]\n{'[' * 100_000}\n")
    found = loaded(path)
    assert [str(problem).split(": ")[0] for problem in found.problems] == [
        "q.jsonl:1",
        "q.jsonl:4",
        "q.jsonl:5",
    ]
    assert len(found.questions) == 1


def test_an_id_stands_for_one_question(tmp_path: Path) -> None:
    record = {"id": "x", "question": "Who?", "answerable": False}
    found = loaded(lines(tmp_path / "q.jsonl", record, record))
    assert [str(problem) for problem in found.problems] == [
        "q.jsonl:2: the id 'x' is that of q.jsonl:1 already"
    ]
    both = loaded(lines(tmp_path / "one.jsonl", record), lines(tmp_path / "two.jsonl", record))
    assert [question.id for question in both.questions] == ["one:x", "two:x"]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("q.toml", b"question = 3", r"write each question under \[\[question\]\]"),
        ("q.toml", b"[[questions]]\nquestion = 'Who?'", r"holds \[\[questions\]\]: write \[\[question\]\]"),
        ("q.toml", b"[[question", "is no TOML"),
        ("q.toml", b"n = " + b"9" * 6000, "is no TOML"),
        ("q.jsonl", b"\n\n", "holds no question"),
        ("q.jsonl", b"\xff\xfe", "is not UTF-8"),
        ("missing.jsonl", None, "cannot be read"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, name: str, data: bytes | None, said: str) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UsageError, match=said):
        loaded(tmp_path / name)


def test_toml_problems_name_the_line_of_their_table(tmp_path: Path) -> None:
    text = '# mine\n[[question]]\nquestion = "Who?"\nanswerable = false\n\n[[question]]\nquestion = "What?"\n'
    (only,) = loaded(write(tmp_path / "q.toml", text)).problems
    assert str(only).startswith("q.toml:6: document is missing")


def test_thinning_keeps_groups_whole_and_all_sorts() -> None:
    questions = [asked(f"a{n}", (0, 10), group=f"g{n // 2}") for n in range(40)]
    questions += [asked(f"n{n}", kind="near") for n in range(30)] + [
        asked(f"f{n}", kind="far") for n in range(3)
    ]
    kept = thinned(questions, 5)
    assert kept == thinned(questions, 5)
    assert len({question.group for question in kept if question.answerable}) == 5
    assert len([question for question in kept if question.answerable]) == 10
    assert sum(question.nearness == "near" for question in kept) == 5
    assert sum(question.nearness == "far" for question in kept) == 3
    assert thinned(questions, 0) == tuple(questions)


def test_what_is_wrong_is_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    lost = {"question": "Dogs?", "document": "house/lease.md", "evidence": "nowhere"}
    found = loaded(lines(tmp_path / "q.jsonl", lost, {"question": ""}, lost, {}))
    assert [problem.place for problem in found.problems] == [f"q.jsonl:{number}" for number in (1, 2, 3, 4)]


def test_a_missing_file_names_the_one_that_was_meant(tmp_path: Path) -> None:
    write(tmp_path / "own.jsonl", "{}")
    with pytest.raises(UsageError, match=r"cannot be read.*did you mean .*own\.jsonl\?"):
        loaded(tmp_path / "onw.jsonl")
