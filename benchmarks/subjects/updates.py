"""An index brought up to date: ten thousand notes of which none changed, and one edited paragraph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from benchmarks.child import Child
from benchmarks.folder import CHUNKS_PER_NOTE, synthetic_folder
from benchmarks.plan import Plan
from benchmarks.report import Row, row_of
from benchmarks.series import Series, take_turns

SUBJECT = "updates"


def measure(plan: Plan) -> list[Row]:
    """Unchanged first: the edit leaves the folder another."""
    made = synthetic_folder(replace(plan, kept=None), plan.files * CHUNKS_PER_NOTE)
    environment = plan.environment(made.home)
    with Child("ragchat_folder", environment=environment) as child:
        child.ask("load", folder=str(made.notes))
        child.ask("update")  # calibrates the threshold, which stays
    with Child("ragchat_folder", environment=environment) as child:
        child.ask("load", folder=str(made.notes))
        first = child.ask("update")
        if first["changed"] or first["unchanged"] != made.files:
            raise RuntimeError(f"the synthetic index is not what an update expects: {first}")
        return [*_unchanged(plan, child, first), *_edited(plan, child)]


def _unchanged(plan: Plan, child: Child, first: dict[str, Any]) -> list[Row]:
    turns = take_turns(
        {"walk": lambda _: child.seconds("walk"), "update": lambda _: child.seconds("update")}, plan.rounds
    )
    case = f"{first['unchanged']:,} unchanged notes"
    update = turns["update"]
    goal, met = ("0.3 s", update.median <= 0.3) if first["unchanged"] == 10_000 else ("", None)
    return [
        row_of(SUBJECT, case, "scandir and stat alone", turns["walk"]),
        row_of(
            SUBJECT, case, "ragchat updates", update, against=("scandir", turns["walk"]), goal=goal, met=met
        ),
        row_of(SUBJECT, case, "ragchat's first update after starting", Series((first["seconds"],))),
    ]


def _edited(plan: Plan, child: Child) -> list[Row]:
    """The note is written and indexed once; then one paragraph changes before every update."""
    child.ask("write", round=0)
    child.ask("update")
    embedded: list[int] = []

    def edit(number: int) -> float:
        child.ask("write", round=number + 1)
        answer = child.ask("update")
        embedded.append(answer["embedded"])
        return float(answer["seconds"])

    turns = take_turns(
        {
            "edit": edit,
            "embed": lambda number: child.seconds(
                "embed", round=number, chunks=max(1, embedded[-1]) if embedded else 2
            ),
            "unchanged": lambda _: child.seconds("update"),
        },
        max(5, plan.rounds // 4),
    )
    case = "one paragraph of forty edited"
    most = max(embedded)
    return [
        row_of(SUBJECT, case, "embedding that many passages", turns["embed"]),
        row_of(SUBJECT, case, "an update without the edit", turns["unchanged"]),
        row_of(SUBJECT, case, "ragchat updates", turns["edit"], against=("unchanged", turns["unchanged"])),
        # The paragraph that was edited, and the one of the round before, which is as it was again.
        Row(SUBJECT, case, "passages embedded, at most", most, "", goal="those it touched", met=most <= 4),
    ]
