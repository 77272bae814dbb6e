"""A report as one plain object: what `--json` prints and every table and plot is drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from ragchat import __version__
from ragchat.evaluation.answers import DEEDS, SENT, Judged, count_deeds
from ragchat.evaluation.examination import Examined
from ragchat.evaluation.measures import CRITERIA, DEPTHS, Finding, Gating, compared, finding, gating, latency
from ragchat.evaluation.outcome import RANKINGS
from ragchat.evaluation.questions import QuestionSet
from ragchat.evaluation.statistics import Area, PairedTest, Proportion
from ragchat.retrieval.trace import Threshold

CAVEAT = (
    "Questions written by the notes' own author are easier than a stranger's: they use the notes' words. "
    "Read these figures as an upper bound for other people's questions."
)
_COMPARED_AT = (1, 4)
_INGREDIENTS = (
    ("blind+overlap", "blind"),
    ("boundaries", "blind"),
    ("boundaries+overlap", "boundaries"),
    ("boundaries+header", "boundaries"),
    ("boundaries+overlap+header", "boundaries+header"),
)
"""Pairs of strategies that differ in one thing alone."""

Report = dict[str, Any]


def report_json(name: str, examined: Sequence[Examined], questions: QuestionSet, now: datetime) -> Report:
    """Everything that was measured, with where it came from. examined: as set up first, then the others.

    The fields of the first stand at the top; those of the others under "strategies", and how they compare
    with the first, and with each other where they differ in one thing, under "strategies_paired".
    """
    first, *others = examined
    asked = [question for question, _ in first.asked]
    return {
        "name": name,
        "made": now.isoformat(timespec="seconds"),
        "ragchat": __version__,
        "caveat": CAVEAT,
        "corpus": {"sha256": first.corpus, "documents": first.documents, "chunks": first.structure.chunks},
        "questions": {
            "sha256": questions.digest,
            "asked": len(asked),
            "answerable": sum(question.answerable for question in asked),
            "near": sum(question.nearness == "near" for question in asked),
            "far": sum(question.nearness == "far" for question in asked),
            "unusable": [str(problem) for problem in questions.problems],
        },
        **_strategy(first),
        "strategies": [_strategy(other) for other in others],
        "strategies_paired": _across(examined),
        "grid": _grid(examined),
    }


def answers_json(judged: Sequence[Judged], model: str) -> Report:
    """What the answers did with what they were sent, and each answer's own line."""
    deeds = count_deeds(judged)
    return {
        "model": model,
        "asked": len(judged),
        "table": {sent: {deed: deeds.table.get((sent, deed), 0) for deed in DEEDS} for sent in SENT},
        "cited": _share(deeds.cited),
        "invalid": _share(deeds.invalid),
        "abstained": _share(deeds.abstained),
        "sentences_found": _share(deeds.found),
        "answers": [
            {
                "id": one.question.id,
                "sent": one.sent,
                "deed": one.deed,
                "invalid": one.invalid,
                "answer": one.text,
                "support": [asdict(support) for support in one.supports],
            }
            for one in judged
        ],
    }


_GATE_METRICS = {
    "answered": "answered",
    "lost": "lost",
    "bluffs": "bluffs",
    "near": "bluffs.near",
    "far": "bluffs.far",
    "auc_near": "auc.near",
    "auc_far": "auc.far",
}
"""Field of a report's gate -> the metric's name."""


def is_metric(name: str) -> bool:
    """Whether a report can have a figure of this name; which ones it has depends on the questions."""
    recalls = {f"{_recall_name(criterion)}@{depth}" for criterion in CRITERIA for depth in DEPTHS}
    return name in recalls or name in ("mrr", "destroyed", *_GATE_METRICS.values())


def _recall_name(criterion: str) -> str:
    return "recall" if criterion == "whole" else f"recall.{criterion}"


def metrics_of(report: Mapping[str, Any]) -> dict[str, float]:
    """The report's figures by the names that `--fail-under` takes, in the order they are shown.

    "recall@4" and "mrr" are those of ragchat's own order; "lost", "bluffs…" are better the smaller they are.
    """
    metrics: dict[str, float] = {}
    ranking = report["rankings"].get("ragchat")
    if ranking:
        for criterion, recall in ranking["recall"].items():
            metrics |= {
                f"{_recall_name(criterion)}@{depth}": share["value"] for depth, share in recall.items()
            }
        metrics["mrr"] = ranking["mrr"]["value"]
    gate = report["gate"]
    metrics |= {name: gate[field]["value"] for field, name in _GATE_METRICS.items() if gate[field]}
    if destroyed := report["structure"]["destroyed"]:
        metrics["destroyed"] = destroyed["value"]
    return metrics


def smaller_is_better(metric: str) -> bool:
    """Whether a target for this metric is an upper bound."""
    return metric in ("lost", "destroyed") or metric.startswith("bluffs")


def _strategy(examined: Examined) -> Report:
    found = {ranking: finding(examined.asked, ranking) for ranking in RANKINGS}
    times = latency(examined.asked)
    return {
        "strategy": examined.name,
        "stamp": examined.stamp,
        "threshold": _threshold(examined.threshold),
        "rankings": {name: _finding(value) for name, value in found.items() if value},
        "paired": _between_rankings(examined) if found["ragchat"] else [],
        "gate": _gating(gating(examined.asked)),
        "structure": asdict(examined.structure),
        "latency_ms": None if times is None else {"median": times[0], "p95": times[1]},
    }


def _threshold(threshold: Threshold) -> Report:
    return {"value": threshold.value, "origin": threshold.origin, "detail": threshold.detail}


def _finding(value: Finding) -> Report:
    recall: dict[str, Report] = {}
    for (criterion, depth), share in value.recall.items():
        recall.setdefault(criterion, {})[str(depth)] = asdict(share)
    return {
        "recall": recall,
        "mrr": asdict(value.mrr),
        "characters": {str(depth): mean for depth, mean in value.characters.items()},
        "tokens": {str(depth): mean for depth, mean in value.tokens.items()},
    }


def _between_rankings(examined: Examined) -> list[Report]:
    asked = examined.asked
    return [
        _pair("ragchat", ranking, depth, compared((asked, "ragchat"), (asked, ranking), "whole", depth))
        for ranking in RANKINGS
        if ranking != "ragchat"
        for depth in _COMPARED_AT
    ]


def _across(examined: Sequence[Examined]) -> list[Report]:
    """The first strategy against each other one, then those that differ in one thing, in ragchat's order."""
    by_name = {one.name: one for one in examined}
    pairs = [(examined[0].name, other.name) for other in examined[1:]]
    pairs += [pair for pair in _INGREDIENTS if pair[0] in by_name and pair[1] in by_name]
    return [
        _pair(
            first,
            second,
            depth,
            compared((by_name[first].asked, "ragchat"), (by_name[second].asked, "ragchat"), "whole", depth),
        )
        for first, second in pairs
        for depth in _COMPARED_AT
    ]


def _pair(first: str, second: str, depth: int, test: PairedTest) -> Report:
    told = asdict(test) | {"distinguishable": test.distinguishable}
    return {"first": first, "second": second, "k": depth} | told


def _grid(examined: Sequence[Examined]) -> list[Report]:
    """For every question the rank of its whole first span under each strategy and ranking."""
    outcomes = {one.name: {question.id: outcome for question, outcome in one.asked} for one in examined}
    return [
        {
            "id": question.id,
            "question": question.text,
            "answerable": question.answerable,
            "kind": question.kind,
            "nearness": question.nearness,
            "refused": {name: asked[question.id].refused for name, asked in outcomes.items()},
            "excess": asked_first.excess if math.isfinite(asked_first.excess) else None,
            "ranks": {
                name: {ranking: found.whole for ranking, found in asked[question.id].ranks.items()}
                for name, asked in outcomes.items()
            },
        }
        for question, asked_first in examined[0].asked
    ]


def _gating(gate: Gating) -> Report:
    return {
        "lost": _share(gate.lost),
        "answered": _share(gate.answered),
        "bluffs": _share(gate.all_bluffs),
        "near": _share(gate.near),
        "far": _share(gate.far),
        "kinds": {kind: asdict(share) for kind, share in gate.kinds.items()},
        "auc_near": _share(gate.area_near),
        "auc_far": _share(gate.area_far),
        "at_2_percent_lost": None if gate.at_target is None else asdict(gate.at_target),
        "sweep": [asdict(point) for point in gate.sweep],
    }


def _share(value: Proportion | Area | None) -> Report | None:
    return None if value is None else asdict(value)
