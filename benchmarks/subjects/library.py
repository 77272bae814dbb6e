"""The same questions over a library in PostgreSQL, beside the local index: parts, opening, filters, disk.

The rows are copied into the tables and the indexes built afterwards (`benchmarks/database.py`); what is asked
is the program as it is. Up to `_LOCAL` chunks the local index of the same chunks takes turns with it.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

from benchmarks.child import Child
from benchmarks.database import load, server, sizes_of
from benchmarks.plan import Plan
from benchmarks.report import Row, row_of
from benchmarks.series import Measurement, Series, take_turns
from benchmarks.synthetic import write_material, write_questions

SUBJECT = "library"

_LOCAL = 100_000
"""The largest local index that is built beside it: a million take minutes and 5 GB; `queries` has them."""
_PARTS = ("dense", "bm25", "candidates")
_EXACT_ROUNDS = 8
_RECALLED = 8


def measure(plan: Plan) -> list[Row]:
    """All sizes, smallest first, each in a server of its own."""
    rows: list[Row] = []
    for size in sorted(plan.sizes):
        folder = plan.work / f"library-{size}"
        with server(plan.work) as url:
            seconds = load(url, size)
            rows += [
                Row(SUBJECT, f"{size:,} chunks", f"loading, {step}", took, "s")
                for step, took in seconds.items()
            ]
            rows += measure_loaded(plan, size, url, folder)
        shutil.rmtree(folder, ignore_errors=True)
    return rows


def measure_loaded(plan: Plan, size: int, url: str, folder: Path) -> list[Row]:
    """Ask a library that is loaded. folder: for the material and the local index."""
    case = f"{size:,} chunks"
    with ExitStack() as stack:
        environment = plan.environment(folder)
        (folder / "notes").mkdir(parents=True)
        request: dict[str, object] = {**write_questions(folder), "folder": str(folder / "notes")}
        shared = stack.enter_context(Child("ragchat_index", environment=environment))
        shared.ask("load", **request, backend=url)
        opened = []
        for _ in range(5):
            opened.append(shared.seconds("open"))
            shared.ask("close")
        shared.ask("open")
        first = shared.seconds("retrieve", round=0)
        contenders: dict[str, Measurement] = {"retrieve": lambda at: shared.seconds("retrieve", round=at)}
        local: Child | None = None
        if size <= _LOCAL:
            local = stack.enter_context(Child("ragchat_index", environment=environment))
            local.ask("build", **{**request, **write_material(folder, size).as_request()})
            local.ask("load", **request)
            local.ask("open")
            contenders["local"] = lambda at, child=local: child.seconds("retrieve", round=at)  # type: ignore[misc]
        parts: dict[str, list[dict[str, float]]] = {"shared": [], "local": []}
        contenders["parts"] = lambda at: _part(shared, parts["shared"], at)
        if local is not None:
            contenders["local parts"] = lambda at, child=local: _part(child, parts["local"], at)  # type: ignore[misc]
        turns = take_turns(contenders, plan.rounds, warm_up=3)
        exact = take_turns(
            {
                "exact": lambda at: shared.seconds("exact", round=at),
                "filtered": lambda at: shared.seconds("filtered", round=at, within="0000/"),
            },
            min(_EXACT_ROUNDS, plan.rounds),
        )
        recall = shared.ask("recall", questions=_RECALLED)["recall"]
    rows = [row_of(SUBJECT, case, "library opens", Series(tuple(opened)))]
    rows.append(row_of(SUBJECT, case, "library, first question after opening", Series((first,))))
    mine = _series(parts["shared"], turns["parts"])
    beside = _series(parts["local"], turns["local parts"]) if local is not None else {}
    for part in _PARTS:
        against = ("local", beside[part]) if beside else None
        rows.append(row_of(SUBJECT, case, f"library {part}", mine[part], against=against))
    against = ("local", turns["local"]) if local is not None else None
    rows.append(row_of(SUBJECT, case, "library, all of it", turns["retrieve"], against=against))
    rows.append(row_of(SUBJECT, case, "library, every vector compared", exact["exact"]))
    rows.append(row_of(SUBJECT, case, "library, all of it in one folder of 2,000 chunks", exact["filtered"]))
    rows.append(Row(SUBJECT, case, "library, share of the nearest found", recall, ""))
    rows += [Row(SUBJECT, case, f"disk, {part}", size_ / 1e6, "MB") for part, size_ in sizes_of(url).items()]
    return rows


def _part(child: Child, answers: list[dict[str, float]], number: int) -> float:
    answers.append(child.ask("parts", round=number))
    return answers[-1]["dense"]


def _series(answers: list[dict[str, float]], counted: Series) -> dict[str, Series]:
    """Of the rounds that count: the last ones."""
    kept = answers[-len(counted.values) :]
    return {part: Series(tuple(answer[part] for answer in kept)) for part in _PARTS}
