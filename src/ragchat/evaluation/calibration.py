"""Choose the threshold from the user's own questions, for a stated cost of a bluff against a lost answer.

The cost of a threshold is (share of answers lost) + c · (share of bluffs): both sorts of questions weigh the
same, however many of each there are. What is chosen is a shift of every question's threshold, so that what
adapts it to the question goes on doing so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragchat.evaluation.measures import Asked, units
from ragchat.evaluation.outcome import Outcome
from ragchat.evaluation.questions import Question
from ragchat.evaluation.statistics import Proportion, proportion

FEWEST = 20
"""Of either sort. With 20 questions a share of 0 may still be one of 16 % (Wilson): fewer say nothing."""
DEFAULT_COST = 2.0
"""A bluff costs as much as so many lost answers."""
_NO_CANDIDATE = 10.0
_RESAMPLES = 1000
_SEED = 20261130

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rates:
    """What a shift does: answers lost and bluffs, each with its interval."""

    shift: float
    lost: Proportion
    bluffs: Proportion

    def cost(self, bluff_cost: float) -> float:
        """In lost answers, for one question of either sort."""
        return self.lost.value + bluff_cost * self.bluffs.value


@dataclass(frozen=True, slots=True)
class Choice:
    """The cheapest shift of the threshold.

    low, high: 95 % interval of the shift, by resampling the questions (percentile bootstrap, Efron 1979).
    now, then: what the threshold does as it is, and with the shift.
    """

    bluff_cost: float
    answerable: int
    unanswerable: int
    shift: float
    low: float
    high: float
    now: Rates
    then: Rates


def too_few(asked: Asked) -> str:
    """Why these questions are too few to choose by, in one line; "" where they are enough."""
    answerable, unanswerable = len(_excesses(asked, answerable=True)), len(_excesses(asked, answerable=False))
    missing = [
        f"{FEWEST - count} more that {what}"
        for count, what in ((answerable, "the notes answer"), (unanswerable, "must be refused"))
        if count < FEWEST
    ]
    if not missing:
        return ""
    return (
        f"too few questions: {answerable} that the notes answer and {unanswerable} that must be refused; "
        f"it takes {' and '.join(missing)}"
    )


def choose(asked: Asked, bluff_cost: float = DEFAULT_COST) -> Choice:
    """The shift at which these questions cost least; in the middle where several cost the same.

    Raises ValueError without both sorts of questions, or for a cost that is no positive number.
    """
    if not (math.isfinite(bluff_cost) and bluff_cost > 0):
        raise ValueError(f"a cost is a positive number, not {bluff_cost}")
    answers, refusals = _excesses(asked, answerable=True), _excesses(asked, answerable=False)
    if not len(answers) or not len(refusals):
        raise ValueError("both sorts of questions are needed")
    shift = _cheapest(answers, refusals, bluff_cost)
    random = np.random.default_rng(_SEED)
    drawn = [
        _cheapest(_resampled(answers, random), _resampled(refusals, random), bluff_cost)
        for _ in range(_RESAMPLES)
    ]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Choice(
        bluff_cost=bluff_cost,
        answerable=len(answers),
        unanswerable=len(refusals),
        shift=shift,
        low=float(low),
        high=float(high),
        now=rates(asked, 0.0),
        then=rates(asked, shift),
    )


def rates(asked: Asked, shift: float) -> Rates:
    """What these questions would come to with every threshold moved. Raises ValueError without both sorts."""
    lost = proportion([float(excess > shift) for excess in _excesses(asked, answerable=True)])
    bluffs = proportion([float(excess <= shift) for excess in _excesses(asked, answerable=False)])
    if lost is None or bluffs is None:
        raise ValueError("both sorts of questions are needed")
    return Rates(shift, lost, bluffs)


@dataclass(frozen=True, slots=True)
class Replay:
    """What these questions come to with every threshold moved by `shift`; None of a sort there is none of.

    lost: answers. near, far: bluffs. failures: what goes wrong then, the least clear cases last.
    """

    shift: float
    lost: Proportion | None
    near: Proportion | None
    far: Proportion | None
    failures: tuple[tuple[Question, Outcome], ...]


def replay(asked: Asked, shift: float) -> Replay:
    """Judge the outcomes once more under another threshold; nothing is asked."""

    def wrong(question: Question, outcome: Outcome) -> bool:
        return (excess_of(outcome) > shift) == question.answerable

    def share(nearness: str | None) -> Proportion | None:
        sort = [pair for pair in asked if pair[0].nearness == nearness]
        return proportion(units(sort, lambda question, outcome: float(wrong(question, outcome))))

    failures = [pair for pair in asked if wrong(*pair)]
    failures.sort(key=lambda pair: -abs(excess_of(pair[1]) - shift))
    return Replay(shift, share(None), share("near"), share("far"), tuple(failures))


def excess_of(outcome: Outcome) -> float:
    """How far beyond its threshold the nearest passage lies; a large number where there was none at all."""
    return min(outcome.excess, _NO_CANDIDATE)


def _excesses(asked: Asked, *, answerable: bool) -> Floats:
    """One for each group of phrasings; infinite ones, which no threshold admits, as a large number."""
    chosen: Sequence[float] = units(
        [pair for pair in asked if pair[0].answerable == answerable],
        lambda _, outcome: excess_of(outcome),
    )
    return np.array(chosen, dtype=np.float64)


def _resampled(values: Floats, random: np.random.Generator) -> Floats:
    drawn: Floats = random.choice(values, len(values))
    return drawn


def _cheapest(answers: Floats, refusals: Floats, bluff_cost: float) -> float:
    """The middle of the cheapest stretch between two neighbouring excesses, in thousandths if it is wide."""
    edges = np.unique(np.concatenate([answers, refusals]))
    lost = 1 - np.searchsorted(np.sort(answers), edges, "right") / len(answers)
    bluffed = np.searchsorted(np.sort(refusals), edges, "right") / len(refusals)
    costs = np.concatenate([[1.0], lost + bluff_cost * bluffed])  # before the first edge all is refused
    best = int(np.argmin(costs))
    start = float(edges[best - 1]) if best else float(edges[0]) - 0.002
    end = float(edges[best]) if best < len(edges) else start + 0.002
    middle = (start + end) / 2
    rounded = round(middle, 3)
    return rounded if start <= rounded < end else middle
