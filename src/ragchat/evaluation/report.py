"""A report as one plain object: what `--json` prints and every table and plot is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from ragchat import __version__
from ragchat.evaluation.examination import Examined
from ragchat.evaluation.measures import Finding, Gating, compared, finding, gating, latency
from ragchat.evaluation.outcome import RANKINGS
from ragchat.evaluation.questions import QuestionSet
from ragchat.evaluation.statistics import Area, PairedTest, Proportion

CAVEAT = (
    "Questions written by the notes' own author are easier than a stranger's: they use the notes' words. "
    "Read these figures as an upper bound for other people's questions."
)
_COMPARED_AT = (1, 4)


def report_json(examined: Examined, questions: QuestionSet, now: datetime) -> dict[str, Any]:
    """Everything that was measured in one examination, with where it came from."""
    found = {ranking: finding(examined.asked, ranking) for ranking in RANKINGS}
    return {
        "name": examined.name,
        "made": now.isoformat(timespec="seconds"),
        "ragchat": __version__,
        "caveat": CAVEAT,
        "corpus": {"sha256": examined.corpus, "documents": examined.documents, "chunks": examined.chunks},
        "questions": {
            "sha256": questions.digest,
            "asked": len(examined.asked),
            "answerable": sum(question.answerable for question, _ in examined.asked),
            "near": sum(question.nearness == "near" for question, _ in examined.asked),
            "far": sum(question.nearness == "far" for question, _ in examined.asked),
            "unusable": [str(problem) for problem in questions.problems],
        },
        "stamp": examined.stamp,
        "threshold": asdict(examined.threshold),
        "rankings": {name: _finding(value) for name, value in found.items() if value},
        "paired": _paired(examined) if found["ragchat"] else [],
        "gate": _gating(gating(examined.asked)),
        "latency_ms": _latency(examined),
    }


def metrics_of(report: Mapping[str, Any]) -> dict[str, float]:
    """The report's figures by the names that `--fail-under` takes, in the order they are shown.

    "recall@4" and "mrr" are those of ragchat's own order; "lost", "bluffs…" are better the smaller they are.
    """
    metrics: dict[str, float] = {}
    ranking = report["rankings"].get("ragchat")
    if ranking:
        for criterion, recall in ranking["recall"].items():
            prefix = "recall" if criterion == "whole" else f"recall.{criterion}"
            metrics |= {f"{prefix}@{depth}": share["value"] for depth, share in recall.items()}
        metrics["mrr"] = ranking["mrr"]["value"]
    names = {
        "answered": "answered",
        "lost": "lost",
        "bluffs": "bluffs",
        "near": "bluffs.near",
        "far": "bluffs.far",
    }
    names |= {"auc_near": "auc.near", "auc_far": "auc.far"}
    gate = report["gate"]
    metrics |= {name: gate[field]["value"] for field, name in names.items() if gate[field]}
    return metrics


def smaller_is_better(metric: str) -> bool:
    """Whether a target for this metric is an upper bound."""
    return metric == "lost" or metric.startswith("bluffs")


def _finding(value: Finding) -> dict[str, Any]:
    recall: dict[str, dict[str, Any]] = {}
    for (criterion, depth), share in value.recall.items():
        recall.setdefault(criterion, {})[str(depth)] = asdict(share)
    return {
        "recall": recall,
        "mrr": asdict(value.mrr),
        "characters": {str(depth): mean for depth, mean in value.characters.items()},
        "tokens": {str(depth): mean for depth, mean in value.tokens.items()},
    }


def _paired(examined: Examined) -> list[dict[str, Any]]:
    tests = []
    for ranking in RANKINGS:
        if ranking != "ragchat":
            for depth in _COMPARED_AT:
                test = compared((examined.asked, "ragchat"), (examined.asked, ranking), "whole", depth)
                tests.append({"first": "ragchat", "second": ranking, "k": depth} | pair_json(test))
    return tests


def pair_json(test: PairedTest) -> dict[str, Any]:
    """Wins, losses, p, and whether that tells the two apart."""
    return asdict(test) | {"distinguishable": test.distinguishable}


def _gating(gate: Gating) -> dict[str, Any]:
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


def _share(value: Proportion | Area | None) -> dict[str, Any] | None:
    return None if value is None else asdict(value)


def _latency(examined: Examined) -> dict[str, float] | None:
    times = latency(examined.asked)
    return None if times is None else {"median": times[0], "p95": times[1]}
