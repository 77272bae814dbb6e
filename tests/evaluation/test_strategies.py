"""Strategies on made notes: what headers are for, what overlap saves, what tools do that count no tokens."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from ragchat.answering.workspace import Workspace
from ragchat.embedding import registry
from ragchat.errors import UsageError
from ragchat.evaluation.examination import load_folder_questions
from ragchat.evaluation.report import report_json
from ragchat.evaluation.strategies import CUTTINGS, cuttings_named
from ragchat.evaluation.study import study
from ragchat.evaluation.suite import find_suite, in_the_notes_language
from ragchat.evaluation.truncating import Truncating
from ragchat.settings import RetrievalSettings, Settings
from tests.doubles import WordEmbedder
from tests.evaluation.making import NOW, write

SPORTS = ("Chess", "Rowing", "Archery", "Fencing", "Sailing", "Judo")


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> WordEmbedder:
    for kind in ("data", "cache", "config"):
        monkeypatch.setenv(f"RAGCHAT_{kind.upper()}_DIR", str(tmp_path / kind))
    words = WordEmbedder()
    monkeypatch.setattr(registry, "open_embedder", lambda *args, **kwargs: words)
    monkeypatch.setattr(registry, "expected_stamp", lambda *args, **kwargs: words.stamp)
    return words


def rulebook(folder: Path) -> Path:
    """Several chapters say the same phrase, and none of their rules names its chapter."""
    chapters = [
        f"## {sport}\n\nA match lasts {minutes} minutes, and the arbiter decides about a tie.\n"
        for minutes, sport in enumerate(SPORTS, start=10)
    ]
    write(folder / "rules.md", "# Rules\n\n" + "\n".join(chapters))
    records = [
        {
            "question": f"How many minutes lasts a match of {sport}?",
            "document": "rules.md",
            "evidence": f"A match lasts {minutes} minutes",
        }
        for minutes, sport in enumerate(SPORTS, start=10)
    ]
    return write(folder.parent / "questions.jsonl", "\n".join(map(json.dumps, records)))


def studied(folder: Path, questions: Path, *names: str, embedders: tuple[str, ...] = ()) -> dict[str, Any]:
    settings = Settings(retrieval=RetrievalSettings(threshold=1.5))
    workspace = Workspace(folder, settings)
    workspace.update()
    found = load_folder_questions([questions], folder, workspace.index(), settings)
    assert not found.problems
    told: list[str] = []
    examined = study(
        workspace, found, cuttings_named(names), embedders, tell=told.append, cancel=threading.Event()
    )
    assert len(told) >= len(names)
    workspace.close()
    return report_json("made", examined, found, NOW)


def recall_at_1(report: dict[str, Any], strategy: str, ranking: str = "dense") -> float:
    (only,) = [one for one in report["strategies"] if one["strategy"] == strategy]
    return float(only["rankings"][ranking]["recall"]["whole"]["1"]["value"])


@pytest.mark.usefixtures("embedder")
def test_headers_tell_chapters_apart_that_say_the_same(tmp_path: Path) -> None:
    questions = rulebook(tmp_path / "notes")
    report = studied(tmp_path / "notes", questions, "boundaries", "boundaries+header")
    for ranking in ("dense", "bm25", "ragchat"):
        assert recall_at_1(report, "boundaries+header", ranking) == 1.0
        assert recall_at_1(report, "boundaries", ranking) < 0.5
    pair = next(
        test
        for test in report["strategies_paired"]
        if (test["first"], test["second"], test["k"]) == ("boundaries+header", "boundaries", 1)
    )
    assert (pair["wins"], pair["losses"]) == (5, 0)
    assert pair["p"] == 0.0625  # five questions cannot tell it yet, and it says so
    assert not pair["distinguishable"]


@pytest.mark.usefixtures("embedder")
def test_overlap_saves_an_answer_that_the_cut_went_through(tmp_path: Path) -> None:
    # The blind cut at 512 falls into the number.
    text = "Some word. " * 45 + "The number is 8,848 metres high, and the rest follows. " + "More word. " * 20
    write(tmp_path / "notes" / "a.md", text)
    record = {"question": "number metres high", "document": "a.md", "evidence": "number is 8,848 metres high"}
    questions = write(tmp_path / "q.jsonl", json.dumps(record))
    report = studied(tmp_path / "notes", questions, "blind", "blind+overlap", "boundaries")
    cut = {one["strategy"]: one["structure"]["destroyed"]["value"] for one in report["strategies"]}
    assert cut == {"blind": 1.0, "blind+overlap": 0.0, "boundaries": 0.0}
    assert [recall_at_1(report, name) for name in cut] == [0.0, 1.0, 1.0]
    built = {one["strategy"]: one["structure"] for one in report["strategies"]}
    assert built["blind+overlap"]["growth"] > built["blind"]["growth"]
    assert built["blind"]["over_window"] == 0


@pytest.mark.usefixtures("embedder")
def test_tools_that_count_no_tokens_do_not_read_all(tmp_path: Path) -> None:
    sections = "\n".join(f"# {name}\n\n{'words ' * 400}\n\nThe key is {name}." for name in ("one", "two"))
    write(tmp_path / "notes" / "a.md", sections)
    record = {"question": "the key is two", "document": "a.md", "evidence": "The key is two."}
    questions = write(tmp_path / "q.jsonl", json.dumps(record))
    report = studied(tmp_path / "notes", questions, "sections", "fixed-2000", "boundaries")
    built = {one["strategy"]: one["structure"] for one in report["strategies"]}
    assert (built["sections"]["chunks"], built["sections"]["over_window"]) == (2, 2)
    assert built["fixed-2000"]["over_window"] > 0
    assert built["boundaries"]["over_window"] == 0
    # The encoder never saw the end of a section; BM25 did.
    assert recall_at_1(report, "sections", "bm25") == 1.0


@pytest.mark.usefixtures("embedder")
def test_the_folders_own_index_is_not_touched(tmp_path: Path) -> None:
    questions = rulebook(tmp_path / "notes")
    workspace = Workspace(tmp_path / "notes", Settings())
    workspace.update()
    before = workspace.index().stamp
    workspace.close()
    report = studied(tmp_path / "notes", questions, "blind")
    assert workspace.index().stamp == before
    assert report["strategy"] == "current"
    workspace.close()


def test_a_second_run_embeds_nothing(tmp_path: Path, embedder: WordEmbedder) -> None:
    questions = rulebook(tmp_path / "notes")
    first = studied(tmp_path / "notes", questions, "all")
    assert [one["strategy"] for one in first["strategies"]] == [cutting.name for cutting in CUTTINGS]
    embedder.texts_embedded.clear()
    second = studied(tmp_path / "notes", questions, "all")
    assert embedder.texts_embedded == []
    assert [one["rankings"] for one in second["strategies"]] == [
        one["rankings"] for one in first["strategies"]
    ]


@pytest.mark.usefixtures("embedder")
def test_any_embedder_is_a_strategy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = rulebook(tmp_path / "notes")
    monkeypatch.setattr(
        "ragchat.evaluation.study.open_embedder",
        lambda settings, **kwargs: WordEmbedder(name=settings.model, dimensions=64),
    )
    report = studied(tmp_path / "notes", questions, embedders=("small",))
    (other,) = report["strategies"]
    assert other["strategy"] == "small"
    assert other["stamp"]["embedder"]["dimensions"] == 64
    assert other["stamp"]["chunker"] == report["stamp"]["chunker"]


def test_a_truncating_encoder_reads_the_longest_beginning_that_fits() -> None:
    words = WordEmbedder(window=12)
    cut = Truncating(words)
    text = " ".join(f"word{number}" for number in range(50))
    cut.embed_passages([text, "short one"])
    long, short = words.texts_embedded
    assert text.startswith(long)
    assert words.count_tokens(long) == 12
    assert words.count_tokens(text[: len(long) + 2]) > 12
    assert short == "short one"
    assert cut.stamp != words.stamp
    assert cut.stamp.window == 12


def test_names_of_strategies() -> None:
    assert cuttings_named(["all"]) == list(CUTTINGS)
    assert [cutting.name for cutting in cuttings_named(["sections", "all"])][:2] == ["sections", "blind"]
    with pytest.raises(UsageError, match="no strategy semantic"):
        cuttings_named(["semantic"])


@pytest.mark.usefixtures("embedder")
def test_a_suite_asks_strangers_only_in_the_notes_language(tmp_path: Path) -> None:
    root = tmp_path / "sets"
    rulebook(root / "rules" / "corpus")
    english = {"question": "How long is the match about a tie in the rain?", "answerable": False}
    japanese = {"question": "富士山の高さは何メートルですか", "answerable": False}
    for name, record in (("far-en", english), ("far-ja", japanese)):
        write(root / name / "questions.jsonl", json.dumps(record, ensure_ascii=False))
    write(root / "empty" / "SOURCE.md", "no questions")
    suite = find_suite(root)
    assert [chosen.name for chosen in suite.sets] == ["rules"]
    assert [path.parent.name for path in suite.strangers] == ["far-en", "far-ja"]
    workspace = Workspace(suite.sets[0].notes, Settings())
    workspace.update()
    kept = in_the_notes_language(suite.strangers, workspace.index().snapshot())
    assert [path.parent.name for path in kept] == ["far-en"]
    workspace.close()
    for nothing in (root / "empty", tmp_path / "missing"):
        with pytest.raises(UsageError, match="holds no question set"):
            find_suite(nothing)
