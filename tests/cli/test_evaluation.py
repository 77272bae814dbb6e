"""`ragchat eval`: figures on stdout, exit codes for scripts, and what is wrong with a question file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ragchat.evaluation.collection import Collection
from ragchat.evaluation.report import is_metric, metrics_of
from tests.cli.conftest import Ragchat
from tests.doubles import WordEmbedder
from tests.ollama_server import OllamaTestServer

QUESTIONS = [
    {
        "question": "The lease ends on which day?",
        "document": "house/lease.md",
        "evidence": "ends on 31 March 2027",
    },
    {
        "question": "The rent is how much?",
        "document": "house/lease.md",
        "evidence": "The rent is 1,140 a month.",
    },
    {"question": "Which colour has zinc?", "answerable": False, "kind": "far"},
    {"question": "The lease begins on which day?", "answerable": False, "kind": "near miss"},
]


@pytest.fixture
def questions(tmp_path: Path) -> str:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in QUESTIONS), encoding="utf-8")
    return str(path)


def test_json_carries_figures_hashes_and_the_caveat(ragchat: Ragchat, questions: str) -> None:
    told = ragchat("eval", questions, "--json", "--set", "retrieval.threshold=0.7")
    assert told.code == 0
    report = json.loads(told.out)
    assert report["rankings"]["ragchat"]["recall"]["whole"]["1"]["value"] == 1.0
    assert report["rankings"]["ragchat"]["recall"]["whole"]["1"]["trials"] == 2
    assert report["questions"]["answerable"] == 2
    assert (report["gate"]["lost"]["value"], report["gate"]["far"]["value"]) == (0.0, 0.0)
    assert report["gate"]["near"]["value"] == 1.0
    assert report["threshold"] == {
        "value": 0.7,
        "origin": "setting",
        "detail": "fixed at 0.700 in the settings",
    }
    assert len(report["corpus"]["sha256"]) == 64
    assert report["stamp"]["embedder"]["model"] == "words"
    assert "easier than a stranger's" in report["caveat"]
    assert [test["second"] for test in report["paired"]] == [
        "dense",
        "dense",
        "bm25",
        "bm25",
        "hybrid",
        "hybrid",
    ]


def test_a_terminal_sees_tables(ragchat: Ragchat, questions: str) -> None:
    told = ragchat("eval", questions)
    assert told.code == 0
    assert "2 answerable questions, 1 near miss and 1 other to be refused; 2 documents" in told.out
    assert "recall@4" in told.out
    assert "ragchat against dense, recall@1: +0/−0, p = 1.00: not distinguishable" in told.out
    assert "lost answers" in told.out
    assert "upper bound" in told.err


def test_a_second_run_asks_nothing_again(ragchat: Ragchat, questions: str, embedder: WordEmbedder) -> None:
    first = json.loads(ragchat("eval", questions, "--json").out)
    embedder.embed_question = None  # type: ignore[method-assign,assignment]
    second = json.loads(ragchat("eval", questions, "--json").out)
    for field in ("rankings", "paired", "gate", "grid", "latency_ms"):
        assert second[field] == first[field]


def test_a_changed_note_is_asked_again(ragchat: Ragchat, questions: str, notes: Path) -> None:
    before = json.loads(ragchat("eval", questions, "--json").out)
    (notes / "new.md").write_text("The lease ends on which day? Nobody knows.", encoding="utf-8")
    after = json.loads(ragchat("eval", questions, "--json").out)
    assert before["corpus"] != after["corpus"]
    ranks = [report["rankings"]["bm25"]["mrr"]["value"] for report in (before, after)]
    assert ranks[1] < ranks[0]


def test_fail_under_sets_the_exit_code(ragchat: Ragchat, questions: str) -> None:
    arguments = ("eval", questions, "--set", "retrieval.threshold=0.7")
    met = ragchat(*arguments, "--fail-under", "recall@1=0.9", "--fail-under", "bluffs.far=0.05")
    assert met.code == 0
    assert "recall@1 is 1.000, the target 0.9: met" in met.err
    missed = ragchat(*arguments, "--fail-under", "bluffs.near=0.5")
    assert missed.code == 1
    assert "bluffs.near is 1.000, the target 0.5: missed" in missed.err


@pytest.mark.parametrize("target", ["recall@1", "recall@1=high", "recall@1=nan", "glory=1", "recall@7=1"])
def test_a_target_that_is_none_is_told_before_anything_is_measured(
    ragchat: Ragchat, questions: str, target: str
) -> None:
    told = ragchat("eval", questions, "--fail-under", target)
    assert told.code == 2
    assert "hint:" in told.err
    assert "not indexed yet" in ragchat("status").out


def test_every_figure_of_a_report_can_be_a_target(ragchat: Ragchat, questions: str) -> None:
    report = json.loads(ragchat("eval", questions, "--json").out)
    assert {"recall@4", "recall.every@4", "mrr", "lost", "auc.near", "destroyed"} <= metrics_of(report).keys()
    assert all(map(is_metric, metrics_of(report)))


def test_bad_questions_are_named_and_may_be_left_out(ragchat: Ragchat, questions: str) -> None:
    bad = {"question": "Which pet?\x1b[2J", "document": "house/lease.md", "evidence": "A dog\x1b[2J"}
    with Path(questions).open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(bad))
    told = ragchat("eval", questions)
    assert told.code == 2
    assert "questions.jsonl:5: house/lease.md: “A dog\\x1b[2J” does not stand in it" in told.err
    assert "--skip-invalid" in told.err
    assert "\x1b" not in told.err
    assert ragchat("eval", questions, "--skip-invalid").code == 0


def test_limit_asks_an_even_sample(ragchat: Ragchat, questions: str) -> None:
    report = json.loads(ragchat("eval", questions, "--limit", "1", "--json").out)
    assert report["questions"]["asked"] == 3


def test_strategies_stand_in_one_table(ragchat: Ragchat, questions: str) -> None:
    told = ragchat("eval", questions, "--strategies", "blind,sections", "--set", "retrieval.threshold=1")
    assert told.code == 0
    for said in ("current", "blind", "sections", "cut answers", "current against blind, recall@1"):
        assert said in told.out
    assert ragchat("eval", questions, "--strategies", "semantic").code == 2


def test_every_set_below_a_folder(ragchat: Ragchat, questions: str, notes: Path, tmp_path: Path) -> None:
    root = tmp_path / "sets"
    shutil.copytree(notes, root / "home" / "corpus")
    shutil.copy(questions, root / "home" / "questions.jsonl")
    far = {"question": "The lease of the rent in March is what?", "answerable": False, "kind": "far"}
    (root / "far").mkdir()
    (root / "far" / "questions.jsonl").write_text(json.dumps(far), encoding="utf-8")
    told = ragchat("eval", "--sets", str(root), "--json", "--fail-under", "auc.far=0")
    assert told.code == 0
    (report,) = json.loads(told.out)["sets"]
    assert (report["name"], report["questions"]["far"]) == ("home", 2)
    assert "near bluffs" in ragchat("eval", "--sets", str(root)).out
    assert ragchat("eval", "--sets", str(tmp_path / "none")).code == 2


def test_a_set_that_cannot_be_asked_is_told_and_the_others_are_asked(
    ragchat: Ragchat, questions: str, notes: Path, tmp_path: Path
) -> None:
    root = tmp_path / "sets"
    for name in ("home", "broken", "mute"):
        shutil.copytree(notes, root / name / "corpus")
    shutil.copy(questions, root / "home" / "questions.jsonl")
    lost = {"question": "What?", "document": "away.md", "evidence": "Nothing."}
    (root / "broken" / "questions.jsonl").write_text(json.dumps(lost), encoding="utf-8")
    told = ragchat("eval", "--sets", str(root), "--json", "--skip-invalid")
    assert told.code == 0
    assert [report["name"] for report in json.loads(told.out)["sets"]] == ["home"]
    assert "no questions, so not asked: mute" in told.err
    assert "left out: broken: no question is left to ask" in told.err
    assert ragchat("eval", "--sets", str(root)).code == 2


def test_questions_or_sets_one_of_them(ragchat: Ragchat, questions: str) -> None:
    assert ragchat("eval", questions, "--sets", "x").code == 2


def test_without_a_file_the_collected_questions_are_asked(ragchat: Ragchat, notes: Path) -> None:
    nothing = ragchat("eval")
    assert nothing.code == 2
    assert "no questions were collected" in nothing.err
    collection = Collection(notes)
    evidence = "The lease ends on 31 March 2027."
    start = (notes / "house/lease.md").read_text().index(evidence)
    collection.mark_answer("The lease ends when?", "house/lease.md", start, start + len(evidence), evidence)
    collection.mark_refused("Which colour has zinc?")
    told = ragchat("eval", "--json")
    assert told.code == 0
    report = json.loads(told.out)
    assert (report["name"], report["questions"]["answerable"], report["questions"]["near"]) == (
        "collected",
        1,
        1,
    )
    (notes / "house/lease.md").write_text("# Lease\n\nNew words.\n", encoding="utf-8")
    edited = ragchat("eval")
    assert edited.code == 0
    assert "left out: questions.jsonl:1" in edited.err


def test_answers_are_told_by_what_they_did_with_their_sources(
    ragchat: Ragchat, questions: str, server: OllamaTestServer
) -> None:
    arguments = ("eval", questions, "--answers", "--set", "retrieval.threshold=0.7")
    told = ragchat(*arguments)
    assert told.code == 0
    assert "4 answers by" in told.out
    assert "not retrieved: 0; retrieved but ignored: 0" in told.out
    answers = json.loads(ragchat(*arguments, "--json").out)["answers"]
    assert answers["table"]["gold sent"]["cites the gold"] == 2
    assert answers["table"]["no gold"] == {
        "refused": 1,
        "abstained": 0,
        "cites the gold": 0,
        "cites others": 1,
        "cites nothing": 0,
        "failed": 0,
    }
    assert answers["cited"]["value"] == 1.0
    # "It ends on 31 March 2027" is no answer to the rent, and its source does not say it.
    assert 0 < answers["sentences_found"]["value"] < 1


def test_passages_that_cannot_stand_alone_are_listed(ragchat: Ragchat, notes: Path) -> None:
    paragraphs = ["The lease is long. " * 25, "It ends in March\x1b[2J. " + "More is said. " * 30]
    (notes / "long.md").write_text("# Long\n\n" + "\n\n".join(paragraphs), encoding="utf-8")
    told = ragchat("eval", "--leaning")
    assert told.code == 0
    (line,) = told.out.splitlines()
    assert line.startswith("long.md#char=")
    assert "It ends in March\\x1b[2J." in line
    assert "1 of " in told.err


def test_filters_choose_the_notes_and_their_questions(ragchat: Ragchat, questions: str) -> None:
    told = ragchat("eval", questions, "--json", "--in", "house/", "--set", "retrieval.threshold=0.7")
    assert (told.code, json.loads(told.out)["questions"]["answerable"]) == (0, 2)
    assert "0 questions are left out" in told.err
    told = ragchat("eval", questions, "--json", "--before", "1980", "--set", "retrieval.threshold=0.7")
    report = json.loads(told.out)
    assert report["questions"]["answerable"] == 0
    assert report["gate"]["far"]["value"] == report["gate"]["near"]["value"] == 0.0
    assert "2 questions are left out: answered in other notes" in told.err
    assert ragchat("eval", questions, "--in", "hause/").code == 2
    assert ragchat("eval", "--sets", ".", "--in", "house/").code == 2
