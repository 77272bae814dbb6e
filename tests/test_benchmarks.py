"""The benchmark suite runs and writes valid JSON. What it measures is asserted nowhere."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks import synthetic
from benchmarks.__main__ import SUBJECTS, main
from benchmarks.compare import main as compare
from benchmarks.report import Row, as_json, as_table
from benchmarks.series import Series, take_turns
from ragchat import paths


def test_a_small_index_is_the_beginning_of_a_large_one() -> None:
    small, large = list(synthetic.blocks(1_200)), list(synthetic.blocks(3_000))
    assert [len(block.texts) for block in small] == [1000, 200]
    assert [text for block in small for text in block.texts] == (large[0].texts + large[1].texts)[:1200]
    vectors = np.concatenate([block.vectors for block in small])
    assert np.array_equal(vectors, np.concatenate([large[0].vectors, large[1].vectors])[:1200])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_who_begins_changes_and_the_warm_up_is_not_counted() -> None:
    order: list[str] = []

    def contender(name: str, value: float) -> float:
        order.append(name)
        return value

    turns = take_turns(
        {"a": lambda number: contender("a", number), "b": lambda number: contender("b", 2.0 * number)},
        3,
        warm_up=1,
    )
    assert order == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert list(turns["a"].values) == [1, 2, 3]
    assert turns["b"].over(turns["a"]) == 2


def test_percentiles_are_values_that_were_measured() -> None:
    series = Series(tuple(float(value) for value in range(100, 0, -1)))
    assert (series.percentile(50), series.percentile(99), series.percentile(100)) == (50, 99, 100)
    assert Series((3.0,)).quartiles == (3, 3)


def test_the_table_says_which_goals_are_kept() -> None:
    kept = Row("s", "a case", "ragchat", 1.5, "ms", 1.0, 2.0, 9, 0.5, "numpy", "3 ms", True)
    missed = Row("s", "a case", "ragchat", 12.25, "ms", goal="3 ms", met=False)
    lines = as_table([kept, missed]).splitlines()
    assert len({len(line) for line in lines}) == 1
    assert "1.50 ms" in lines[2]
    assert "0.50 × numpy" in lines[2]
    assert "✓ 3 ms" in lines[2]
    assert "✗ 3 ms" in lines[3]


def test_two_runs_are_laid_beside_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = Row("s", "a case", "ragchat", 12.25, "ms", ratio=2.5, against="numpy", goal="3 ms", met=False)
    new = Row("s", "a case", "ragchat", 1.5, "ms", ratio=0.5, against="numpy", goal="3 ms", met=True)
    gone = Row("s", "a case", "another", 1.0, "s")
    for name, rows in (("old.json", [gone, old]), ("new.json", [new])):
        (tmp_path / name).write_text(as_json(rows, {}), encoding="utf-8")
    assert compare([str(tmp_path / "old.json"), str(tmp_path / "new.json")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "| a case | another | 1.00 s |  |  |  |  |"
    assert lines[3] == "| a case | ragchat | 12.2 ms | 2.50 × numpy | 1.50 ms | 0.50 × numpy | 3 ms ✓ |"


@pytest.mark.parametrize("subject", ["updates", "queries"])
def test_a_subject_runs_at_a_tiny_size_and_writes_json(
    subject: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = tmp_path / "rows.json"
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "ragchat").symlink_to(paths.make_private_dir(paths.cache_dir()), target_is_directory=True)
    arguments = [subject, "--sizes", "60,120", "--files", "12", "--rounds", "2", "--texts", "4", "--no-peers"]
    arguments += ["--json", str(written), "--cache", str(cache), "--work", str(tmp_path)]
    assert main(arguments) == 0
    run = json.loads(written.read_text(encoding="utf-8"))
    assert run["machine"]["cores"] >= 1
    assert {row["subject"] for row in run["rows"]} == {subject}
    assert all(math.isfinite(row["value"]) for row in run["rows"])
    assert f"## {subject}" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "rows.json"}


def test_every_subject_is_a_file() -> None:
    folder = Path(synthetic.__file__).parent / "subjects"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(SUBJECTS)
