"""The threshold of one question: the folder's, moved by how well the question's words are met.

A logistic score of evidence, w0·nearest + w1·s1 + w2·s2 …, says the same as a distance and a threshold that
depends on the question: nearest <= threshold(s1, s2 …). Written that way the number in the message stays
true, the line in the panel is where it acts, and each signal is a shift that can be shown.

The weights are learned on public corpora (data/gate.toml, made by `python -m benchmarks.gate`). What a signal
means is learned from the folder itself: it is compared with the same signal of off-topic questions that come
as near as the threshold, in units of their spread, so that every embedder has its own scale.
"""

from __future__ import annotations

import functools
import hashlib
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragchat.paths import gate_path
from ragchat.retrieval.signals import Signals
from ragchat.retrieval.trace import LIMIT, ThresholdPart

Kind = Literal["late", "plain"]
Distances = npt.NDArray[np.float64]

LARGEST_STEPS = 4.0
"""A signal counts for so many spreads at most, either way: one odd number must not decide alone."""
_SMALLEST_SPREAD = 0.01
"""A signal that hardly differs between questions would move the threshold by leaps."""
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Usual:
    """What a signal is for off-topic questions of this folder that come as near as its threshold.

    value: for a question of usual length. slope: for each e times as many words. spread: standard deviation.
    weight: how many spreads of the nearest distance one spread of it is worth; 1 for that distance itself.
    """

    value: float
    slope: float
    spread: float
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What a folder's threshold has to keep to, in cosine distance.

    passing_point: of the distances of off-topic questions, the threshold that few enough of them pass.
    lowest, highest: the folder's threshold lies between them. farthest: no question's goes beyond it.
    closest: what is as near as this always passes, where token vectors are compared.
    """

    passing_point: Callable[[Distances], float]
    lowest: float
    highest: float
    farthest: float
    closest: float = 0.0


@dataclass(frozen=True, slots=True)
class FolderGate:
    """The threshold of a folder and what moves it.

    base: cosine distance at which a question passes whose signals are as usual; `passing` within limits.
    passing: the same, such that few enough off-topic questions pass.
    length: ln(1 + words) of a question of usual length. nearest, others: what is usual.
    closest, farthest: every question's threshold lies between them.
    reach: what lies beyond it is no evidence, however well the words are met: unrelated questions lie as
        far from these notes as that, and in notes without meaning some passage stands out by chance.
    """

    kind: Kind
    base: float
    passing: float
    length: float
    nearest: Usual
    others: Mapping[str, Usual]
    farthest: float
    reach: float
    closest: float = 0.0

    def parts(self, signals: Signals) -> tuple[ThresholdPart, ...]:
        """The shifts of this question's threshold, in cosine distance, by signal."""
        longer = math.log1p(signals.words) - self.length
        shifts = [ThresholdPart("length", self.nearest.slope * longer)]
        for name, usual in self.others.items():
            steps = (signals.others[name] - usual.value - usual.slope * longer) / usual.spread
            steps = min(max(steps, -LARGEST_STEPS), LARGEST_STEPS)
            shifts.append(ThresholdPart(name, usual.weight * self.nearest.spread * steps))
        return tuple(shifts)

    def limited(self, parts: Sequence[ThresholdPart]) -> tuple[ThresholdPart, ...]:
        """The same shifts, with one more where they would lead beyond `reach` or below `closest`."""
        return limited(self.base, parts, self.closest, self.reach)

    def value(self, parts: Sequence[ThresholdPart]) -> float:
        """The question's threshold, in the three decimals that are shown."""
        moved = self.base + sum(part.shift for part in parts)
        return round(min(max(moved, self.closest), self.farthest), 3)


def limited(
    base: float, parts: Sequence[ThresholdPart], least: float, most: float
) -> tuple[ThresholdPart, ...]:
    """The shifts of a folder's threshold, with one more that keeps the sum from `least` to `most`."""
    moved = base + sum(part.shift for part in parts)
    back = min(max(moved, least), most) - moved
    return (*parts, ThresholdPart(LIMIT, back)) if back else tuple(parts)


def fit_folder_gate(
    kind: Kind,
    signals: Sequence[Signals],
    limits: Limits,
    weights: Mapping[str, float] | None = None,
) -> FolderGate:
    """The gate for a folder, from the signals of ten off-topic questions or more.

    weights: other ones than those that are shipped, for learning them.
    """
    lengths = np.log1p([one.words for one in signals])
    longer = lengths - lengths.mean()
    distances = np.array([one.nearest for one in signals])
    nearest = _usual(distances, longer, 1.0)
    nearer = distances - nearest.slope * longer - nearest.value
    at_mean: dict[str, Usual] = {}
    toward: dict[str, float] = {}  # change of a signal for each unit of distance
    for name, weight in (gate_weights()[kind] if weights is None else weights).items():
        values = np.array([one.others[name] for one in signals])
        usual = at_mean[name] = _usual(values, longer, weight)
        deviation = values - usual.slope * longer - usual.value
        toward[name] = min(0.0, float(deviation @ nearer) / max(float(nearer @ nearer), _TINY))

    def gate(passing: float, others: Mapping[str, Usual]) -> FolderGate:
        base = min(max(passing, limits.lowest), limits.highest)
        return FolderGate(
            kind,
            base,
            passing,
            float(lengths.mean()),
            nearest,
            others,
            farthest=limits.farthest,
            reach=max(base, min(limits.highest, math.floor(nearest.value * 1000) / 1000)),
            # The gate without token vectors also judges scripts whose distances are chance.
            closest=limits.closest if kind == "late" else 0.0,
        )

    def passing_with(others: Mapping[str, Usual]) -> float:
        shifts = [sum(part.shift for part in gate(0.0, others).parts(one)) for one in signals]
        return limits.passing_point(distances - np.array(shifts))

    # Usual is what comes as near as the base, which in turn depends on what is usual: one linear equation.
    moves = sum(
        usual.weight * nearest.spread / usual.spread * toward[name] for name, usual in at_mean.items()
    )
    away = (passing_with(at_mean) - nearest.value) / (1 - moves)
    at_base = {
        name: replace(usual, value=usual.value + toward[name] * away) for name, usual in at_mean.items()
    }
    return gate(passing_with(at_base), at_base)


def _usual(values: Distances, longer: Distances, weight: float) -> Usual:
    """Mean, least-squares slope and standard deviation around both."""
    slope = float(longer @ values) / max(float(longer @ longer), _TINY)
    spread = float(np.std(values - slope * longer))
    return Usual(float(values.mean()), slope, max(spread, _SMALLEST_SPREAD), weight)


@functools.cache
def gate_weights() -> Mapping[Kind, Mapping[str, float]]:
    """The shipped weights of the signals, by kind and name."""
    table = tomllib.loads(gate_path().read_text(encoding="utf-8"))
    return {"late": table["late"], "plain": table["plain"]}


@functools.cache
def gate_version() -> str:
    """A short digest that changes when a weight does."""
    return hashlib.sha256(repr(gate_weights()).encode()).hexdigest()[:16]


def read_gate(value: Mapping[str, Any]) -> FolderGate:
    """A gate from the plain object that `dataclasses.asdict` made of it. Raises KeyError, TypeError."""
    others = {name: Usual(**usual) for name, usual in value["others"].items()}
    return FolderGate(**{**value, "nearest": Usual(**value["nearest"]), "others": others})
