"""Measurements that take turns, and what may be said of them."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Measurement = Callable[[int], float]
"""Does the thing once, in the round of this number, and returns the seconds (or what else) it took."""


_FEWEST, _SECONDS = 3, 120.0
_REST = 0.1
"""Seconds before each turn: BLAS threads spin for some 50 ms after a product, on the next one's core."""


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one contender, in the order of the rounds."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.values)

    @property
    def quartiles(self) -> tuple[float, float]:
        """Between these lies the middle half; the value itself when there is only one."""
        return self.percentile(25), self.percentile(75)

    def percentile(self, percent: float) -> float:
        """Nearest rank: the smallest value that at least `percent` % of all do not exceed."""
        ordered = sorted(self.values)
        return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]

    def over(self, other: Series) -> float:
        """Median of the rounds' ratios: what slows the machine for a moment slows both of a round."""
        return statistics.median(
            mine / theirs for mine, theirs in zip(self.values, other.values, strict=True)
        )


def take_turns(contenders: Mapping[str, Measurement], rounds: int, *, warm_up: int = 1) -> dict[str, Series]:
    """Every contender once a round; who begins moves on, so that none always follows the same other.

    The first `warm_up` rounds are not counted: they fill caches. What is slow is measured less often: after
    two minutes three rounds are enough.
    """
    started = time.monotonic()
    names = list(contenders)
    values: dict[str, list[float]] = {name: [] for name in names}
    for number in range(warm_up + rounds):
        if number >= warm_up + _FEWEST and time.monotonic() - started > _SECONDS:
            break
        for name in _from(names, number):
            time.sleep(_REST)
            value = contenders[name](number)
            if number >= warm_up:
                values[name].append(value)
    return {name: Series(tuple(measured)) for name, measured in values.items()}


def _from(names: Sequence[str], start: int) -> list[str]:
    at = start % len(names)
    return [*names[at:], *names[:at]]
