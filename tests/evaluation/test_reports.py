"""A written report: whole, the same each time, and nothing in it is markup of other people."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ragchat.errors import SetupError, StorageFailed
from ragchat.evaluation.examination import Examined
from ragchat.evaluation.markdown_report import markdown_table, write_report
from ragchat.evaluation.measures import Asked
from ragchat.evaluation.plots import _style, plots_of
from ragchat.evaluation.questions import Problem, QuestionSet
from ragchat.evaluation.report import metrics_of, report_json
from ragchat.evaluation.structure import Structure
from ragchat.retrieval.trace import Threshold
from tests.evaluation.making import NOW, asked, outcome_of

HOSTILE = "a|b $x_1$ <script>[1](x)\n# \x1b[2J"
STRUCTURE = Structure(9, 400.0, None, 0.1, 0, 2, 1.2, 10_000, 3.0)


def rows(shift: int = 0) -> Asked:
    asked_rows = [
        (asked(f"a{n}", (0, 10)), outcome_of(f"a{n}", 1 + (n + shift) % 7 if n % 5 else None, nearest=n / 40))
        for n in range(20)
    ]
    asked_rows += [
        (asked(f"n{n}", kind="near miss"), outcome_of(f"n{n}", nearest=0.3 + n / 20)) for n in range(8)
    ]
    asked_rows += [
        (asked(f"f{n}", kind=HOSTILE), outcome_of(f"f{n}", nearest=0.5 + n / 20)) for n in range(8)
    ]
    return [*asked_rows, (asked("empty", kind="far"), outcome_of("empty", nearest=float("inf")))]


def examined(name: str, shift: int = 0) -> Examined:
    stamp = {
        "embedder": {"model": HOSTILE, "weights": "0" * 64, "runtime": "test", "window": 256},
        "chunker": "boundaries/1",
    }
    threshold = Threshold(0.5, "auto", "5 % of 9 off-topic questions pass")
    return Examined(name, rows(shift), threshold, "c" * 64, stamp, 3, STRUCTURE)


def a_report(*others: str) -> dict[str, Any]:
    questions = QuestionSet(tuple(q for q, _ in rows()), (Problem("q.jsonl:3", "it is no JSON"),), "d" * 64)
    every = [examined("current"), *(examined(name, shift) for shift, name in enumerate(others, 1))]
    return report_json(HOSTILE, every, questions, NOW)


def test_the_plots_are_whole_svg_and_the_same_each_time() -> None:
    pytest.importorskip("matplotlib")
    plots = plots_of(a_report())
    assert set(plots) == {"recall.svg", "characters.svg", "distances.svg", "bluffs.svg", "ranks.svg"}
    for svg in plots.values():
        assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert plots_of(a_report()) == plots
    assert "near misses (8)" in plots["distances.svg"]
    for ranking in ("dense", "bm25", "hybrid", "ragchat"):
        assert f">{ranking}</" in plots["recall.svg"]


@pytest.mark.parametrize("answerable", [True, False])
def test_questions_of_one_sort_have_no_plot_of_bluffs_against_lost(answerable: bool) -> None:
    pytest.importorskip("matplotlib")
    some = [(question, outcome) for question, outcome in rows() if question.answerable == answerable]
    questions = QuestionSet(tuple(question for question, _ in some), (), "d" * 64)
    plots = plots_of(report_json("one sort", [replace(examined("current"), asked=some)], questions, NOW))
    assert "bluffs.svg" not in plots
    assert "distances.svg" in plots


def test_no_two_of_a_dozen_lines_look_alike() -> None:
    styles = [tuple(_style(number).items()) for number in range(24)]
    assert len(set(styles)) == len(styles)


def test_with_strategies_the_lines_are_theirs() -> None:
    pytest.importorskip("matplotlib")
    plots = plots_of(a_report("blind", HOSTILE.replace("\x1b", "")))
    assert ">blind</" in plots["recall.svg"]
    assert "$x_1$" in plots["ranks.svg"]


def test_a_report_is_a_folder_of_markdown_json_and_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = write_report([a_report("blind")], tmp_path / "report")
    text = path.read_text(encoding="utf-8")
    for said in (
        "2026-11-30T12:00:00+00:00",
        "corpus `cccccccccccccccc`",
        "not distinguishable",
        "easier than a",
    ):
        assert said in text
    assert "\x1b" not in text
    assert not re.search(r"(?<!\\)<script>", text)
    for image in re.findall(r"\]\(([^)]+\.svg)\)", text):
        assert (path.parent / image).is_file()
    tables = [line for line in text.splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in tables if "far" not in line}
    assert widths <= {3, 8, 13}
    assert json.loads((path.parent / "report.json").read_text(encoding="utf-8"))["made"] == NOW.isoformat()


def test_a_suite_has_a_table_over_all(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = write_report([a_report(), a_report()], tmp_path)
    text = path.read_text(encoding="utf-8")
    assert text.index("near bluffs") < text.index("## ")
    assert (tmp_path / "02" / "recall.svg").is_file()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageFailed, match="cannot be written"):
        write_report([a_report()], tmp_path / "file")


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(SetupError) as raised:
        plots_of(a_report())
    assert raised.value.hint == "pip install 'ragchat-tui[report]'"


def test_json_is_json_also_where_nothing_was_found() -> None:
    report = a_report()
    json.dumps(report, allow_nan=False)
    assert [row["excess"] for row in report["grid"] if row["id"] == "empty"] == [None]
    assert report["questions"]["unusable"] == ["q.jsonl:3: it is no JSON"]


def test_metrics_are_those_of_the_report() -> None:
    report = a_report()
    metrics = metrics_of(report)
    assert metrics["recall@4"] == report["rankings"]["ragchat"]["recall"]["whole"]["4"]["value"]
    assert metrics["bluffs.near"] == report["gate"]["near"]["value"]
    nothing = report_json("x", [replace(examined("current"), asked=[])], QuestionSet((), (), ""), NOW)
    assert metrics_of(nothing) == {}


def test_a_table_in_markdown() -> None:
    assert list(markdown_table([["", "n"], ["a|b", "1"]])) == ["|  | n |", "| --- | ---: |", "| a\\|b | 1 |"]
