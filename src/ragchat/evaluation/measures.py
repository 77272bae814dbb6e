"""From outcomes to the figures of a report: how well the answers are found, how well the gate refuses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from ragchat.evaluation.outcome import DEPTH, Outcome, Ranking
from ragchat.evaluation.questions import Question
from ragchat.evaluation.statistics import Area, PairedTest, Proportion, area_under_curve, paired, proportion

Criterion = Literal["whole", "every", "half", "document"]
CRITERIA: tuple[Criterion, ...] = ("whole", "every", "half", "document")
DEPTHS = (1, 2, 3, 4, 5, 10, DEPTH)
LOST_TARGET = 0.02
"""Bluffs are also told at the threshold that loses so many answers, so that two gates can be compared."""
_SWEEP_STEP = 0.01

Asked = Sequence[tuple[Question, Outcome]]


@dataclass(frozen=True, slots=True)
class Finding:
    """How well one ranking finds the answers of the answerable questions.

    recall: (criterion, k) -> share of the questions whose gold lies in the first k chunks.
    mrr: mean of 1 / rank of the first whole gold span; its interval is that of a share, which is wider.
    characters, tokens: mean of what the first k chunks pass on, by k.
    """

    recall: Mapping[tuple[Criterion, int], Proportion]
    mrr: Proportion
    characters: Mapping[int, float]
    tokens: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Point:
    """One place of the sweep: with every threshold moved by `shift`, which shares are lost or bluffed."""

    shift: float
    lost: float | None
    near: float | None
    far: float | None


@dataclass(frozen=True, slots=True)
class Gating:
    """What the gate does with these questions; None where there is no such question.

    lost: answerable questions that are refused. near, far, all_bluffs: questions to be refused that are not.
    kinds: bluffs by the file's own kinds. answered: answerable questions whose whole first gold span is sent.
    area_near, area_far: how well the excess of the distance over its threshold separates them.
    bluffs_at_target: (shift, lost, near, far) at the tightest threshold that loses at most `LOST_TARGET`.
    """

    lost: Proportion | None
    answered: Proportion | None
    all_bluffs: Proportion | None
    near: Proportion | None
    far: Proportion | None
    kinds: Mapping[str, Proportion]
    area_near: Area | None
    area_far: Area | None
    sweep: tuple[Point, ...]
    at_target: Point | None


def units(asked: Asked, value: Callable[[Question, Outcome], float]) -> list[float]:
    """One value for each group of phrasings, their mean, in the order in which the groups first come."""
    groups: dict[str, list[float]] = {}
    for question, outcome in asked:
        groups.setdefault(question.group, []).append(value(question, outcome))
    return [fmean(values) for values in groups.values()]


def rank_of(outcome: Outcome, ranking: Ranking, criterion: Criterion) -> int | None:
    """The rank at which the gold was found by this criterion."""
    ranks = outcome.ranks[ranking]
    return {"whole": ranks.whole, "every": ranks.every, "half": ranks.half, "document": ranks.document}[
        criterion
    ]


def hits(asked: Asked, ranking: Ranking, criterion: Criterion, depth: int) -> list[float]:
    """For each group of answerable questions the share found within `depth`."""

    def found(_: Question, outcome: Outcome) -> float:
        rank = rank_of(outcome, ranking, criterion)
        return float(rank is not None and rank <= depth)

    return units(_answerable(asked), found)


def finding(asked: Asked, ranking: Ranking) -> Finding | None:
    """How well the ranking finds; None without an answerable question."""
    answerable = _answerable(asked)
    reciprocal = units(answerable, lambda _, outcome: 1 / (outcome.ranks[ranking].whole or math.inf))
    mrr = proportion(reciprocal)
    if mrr is None:
        return None
    recall = {
        (criterion, depth): share
        for criterion in CRITERIA
        for depth in DEPTHS
        if (share := proportion(hits(asked, ranking, criterion, depth)))
    }
    ranks = [outcome.ranks[ranking] for _, outcome in answerable]
    return Finding(
        recall=recall,
        mrr=mrr,
        characters={depth: fmean(_up_to(rank.characters, depth) for rank in ranks) for depth in DEPTHS},
        tokens={depth: fmean(_up_to(rank.tokens, depth) for rank in ranks) for depth in DEPTHS},
    )


def compared(
    first: tuple[Asked, Ranking], second: tuple[Asked, Ranking], criterion: Criterion, depth: int
) -> PairedTest:
    """The paired test of two strategies over the same questions, in the same order."""
    return paired(hits(*first, criterion, depth), hits(*second, criterion, depth))


def gating(asked: Asked) -> Gating:
    """What the gate does with these questions."""
    answerable, near, far = _answerable(asked), _sort(asked, "near"), _sort(asked, "far")
    kinds = dict.fromkeys(question.kind for question, _ in (*near, *far))
    sweep = _sweep(answerable, near, far)
    return Gating(
        lost=proportion(units(answerable, lambda _, outcome: outcome.refused)),
        answered=proportion(units(answerable, lambda _, outcome: outcome.sent_whole)),
        all_bluffs=_bluffs([*near, *far]),
        near=_bluffs(near),
        far=_bluffs(far),
        kinds={
            kind or "must be refused": share
            for kind in kinds
            if (share := _bluffs([pair for pair in (*near, *far) if pair[0].kind == kind]))
        },
        area_near=area_under_curve(_excesses(near), _excesses(answerable)),
        area_far=area_under_curve(_excesses(far), _excesses(answerable)),
        sweep=sweep,
        at_target=_at_target(answerable, near, far),
    )


def latency(asked: Asked) -> tuple[float, float] | None:
    """Median and 95th percentile of the milliseconds a question took; None of nothing."""
    if not asked:
        return None
    times = sorted(outcome.milliseconds for _, outcome in asked)
    return median(times), times[min(len(times) - 1, math.ceil(0.95 * len(times)) - 1)]


def _answerable(asked: Asked) -> Asked:
    return _sort(asked, None)


def _sort(asked: Asked, nearness: str | None) -> Asked:
    return [(question, outcome) for question, outcome in asked if question.nearness == nearness]


def _bluffs(asked: Asked) -> Proportion | None:
    return proportion(units(asked, lambda _, outcome: not outcome.refused))


def _excesses(asked: Asked) -> list[float]:
    return units(asked, lambda _, outcome: outcome.excess)


def _up_to(cumulated: Sequence[int], depth: int) -> int:
    return cumulated[min(depth, len(cumulated)) - 1] if cumulated else 0


def _sweep(answerable: Asked, near: Asked, far: Asked) -> tuple[Point, ...]:
    finite = [outcome.excess for _, outcome in (*answerable, *near, *far) if math.isfinite(outcome.excess)]
    if not finite:
        return ()
    first, last = math.floor(min(finite) / _SWEEP_STEP), math.ceil(max(finite) / _SWEEP_STEP)
    return tuple(_point(step * _SWEEP_STEP, answerable, near, far) for step in range(first, last + 1))


def _point(shift: float, answerable: Asked, near: Asked, far: Asked) -> Point:
    def passing(asked: Asked) -> float | None:
        shares = units(asked, lambda _, outcome: outcome.excess <= shift)
        return fmean(shares) if shares else None

    passed = passing(answerable)
    return Point(round(shift, 6), None if passed is None else 1 - passed, passing(near), passing(far))


def _at_target(answerable: Asked, near: Asked, far: Asked) -> Point | None:
    """At the tightest threshold that loses at most `LOST_TARGET` of the answers."""
    excesses = sorted(_excesses(answerable))
    if not excesses or not (near or far):
        return None
    keep = math.ceil((1 - LOST_TARGET) * len(excesses) - 1e-9)
    return _point(excesses[keep - 1], answerable, near, far)
