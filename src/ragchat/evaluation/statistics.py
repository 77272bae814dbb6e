"""How much a number from so many questions can say.

Every proportion carries an interval, every difference between two strategies an exact paired test. What the
data cannot tell apart is called not distinguishable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Z95 = 1.959963984540054
SIGNIFICANT = 0.05
"""A difference with a larger p is reported as not distinguishable."""


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share with its 95 % interval, all in [0, 1].

    trials: independent units (several phrasings of one question are one unit, which may succeed in part).
    """

    value: float
    low: float
    high: float
    trials: int


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Where two strategies differ on the same questions: the first won `wins`, the second `losses`.

    p: two-sided, exact; 1.0 without a difference.
    """

    wins: int
    losses: int
    p: float

    @property
    def distinguishable(self) -> bool:
        """Whether the data supports a difference at all."""
        return self.p < SIGNIFICANT


@dataclass(frozen=True, slots=True)
class Area:
    """Area under the ROC curve with its 95 % interval: the chance that a positive scores above a negative."""

    value: float
    low: float
    high: float
    positives: int
    negatives: int


def wilson_interval(successes: float, trials: int, z: float = Z95) -> tuple[float, float]:
    """95 % score interval of a proportion (Wilson 1927, JASA 22:209), as (low, high) in [0, 1].

    successes may be a fraction, where units succeed in part. No trials: (0, 1), nothing is known.
    Raises ValueError unless 0 <= successes <= trials.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes in {trials} trials")
    if trials == 0:
        return 0.0, 1.0
    share, squared = successes / trials, z * z
    centre = share + squared / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + squared / (4 * trials * trials))
    scale = 1 + squared / trials
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def proportion(successes: Sequence[float]) -> Proportion | None:
    """The mean of per-unit successes in [0, 1], with its interval; None of nothing."""
    if not successes:
        return None
    total = math.fsum(successes)
    low, high = wilson_interval(min(total, len(successes)), len(successes))
    return Proportion(total / len(successes), low, high, len(successes))


def sign_test(wins: int, losses: int) -> float:
    """Two-sided exact p of a sign test on discordant pairs (Dixon & Mood 1946, JASA 41:557).

    The same as McNemar's exact test. Raises ValueError for negative counts.
    """
    if wins < 0 or losses < 0:
        raise ValueError(f"counts must not be negative: {wins}, {losses}")
    pairs = wins + losses
    tail = sum(math.comb(pairs, count) for count in range(min(wins, losses) + 1))
    return float(min(1.0, 2 * tail / 2**pairs)) if pairs else 1.0


def paired(first: Sequence[float], second: Sequence[float]) -> PairedTest:
    """The paired test over units in the same order; equal units say nothing. Raises ValueError on lengths."""
    wins = sum(one > other for one, other in zip(first, second, strict=True))
    losses = sum(one < other for one, other in zip(first, second, strict=True))
    return PairedTest(wins, losses, sign_test(wins, losses))


def area_under_curve(positives: Sequence[float], negatives: Sequence[float]) -> Area | None:
    """The share of pairs in which the positive scores higher, ties half; None without both kinds.

    Interval: DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837, on the logit scale, where it stays in
    [0, 1]. With perfect separation, where that variance is 0, the rule of three bounds it from below.
    """
    if not positives or not negatives:
        return None
    above, below = np.asarray(positives, float), np.sort(np.asarray(negatives, float))
    placed = _placements(above, below)
    placed_negatives = 1 - _placements(below, np.sort(above))
    value = float(placed.mean())
    low, high = _area_interval(value, placed, placed_negatives)
    return Area(value, low, high, len(positives), len(negatives))


def _placements(values: np.ndarray, ordered: np.ndarray) -> np.ndarray:
    """For each value the share of the ordered ones below it, ties half."""
    left, right = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    shares: np.ndarray = (left + right) / 2 / len(ordered)
    return shares


def _area_interval(value: float, ours: np.ndarray, theirs: np.ndarray) -> tuple[float, float]:
    fewest = min(len(ours), len(theirs))
    if not 0 < value < 1:
        return (max(0.0, 1 - 3 / fewest), 1.0) if value == 1 else (0.0, min(1.0, 3 / fewest))
    if fewest < 2:
        return 0.0, 1.0
    variance = float(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs))
    logit = math.log(value / (1 - value))
    spread = Z95 * math.sqrt(variance) / (value * (1 - value))
    return _expit(logit - spread), _expit(logit + spread)


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
