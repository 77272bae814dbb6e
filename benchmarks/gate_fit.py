"""Learn the weights of the gate's signals: a small logistic regression that no signal can turn around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragchat.retrieval.adaptive import FolderGate
from ragchat.retrieval.signals import Signals

Rows = npt.NDArray[np.float64]

PRIOR = 0.3
"""Every weight before anything is learned, in log odds for one spread: equal weights."""
RIDGE = 500.0
"""How firmly weights are held there: three corpora are too few to let them run far."""
_EXAMPLES = 200.0
"""Each corpus counts as so many answerable questions and as many others, however large it is."""
_STEPS = 3_000


@dataclass(frozen=True, slots=True)
class Side:
    """Signals of one corpus's questions, answerable or to be refused, with the gate that scales them."""

    gate: FolderGate
    signals: Sequence[Signals]
    answerable: bool


def learn(sides: Sequence[Side]) -> Mapping[str, float]:
    """How many spreads of the nearest distance one spread of each signal is worth.

    The score of evidence is w0 · (−nearest) + Σ wi · signal i, each in spreads; no weight is below 0, and
    that of the distance not below a tenth of the prior.
    """
    names = list(sides[0].gate.others)
    inputs = [_steps(side, names) for side in sides]
    counts = {
        answerable: sum(side.answerable == answerable for side in sides) for answerable in (True, False)
    }
    corpora = max(1, counts[True])
    importance = [
        np.full(len(rows), _EXAMPLES * corpora / counts[side.answerable] / len(rows))
        for side, rows in zip(sides, inputs, strict=True)
    ]
    targets = [np.full(len(rows), float(side.answerable)) for side, rows in zip(sides, inputs, strict=True)]
    weights = _logistic(np.concatenate(inputs), np.concatenate(targets), np.concatenate(importance))
    return {name: float(weight / weights[0]) for name, weight in zip(names, weights[1:], strict=True)}


def _steps(side: Side, names: Sequence[str]) -> Rows:
    """Per question how near its nearest is, then its signals, in spreads of the off-topic questions."""
    gate = side.gate
    rows = []
    for one in side.signals:
        longer = np.log1p(one.words) - gate.length
        usual = [gate.nearest, *(gate.others[name] for name in names)]
        values = [one.nearest, *(one.others[name] for name in names)]
        steps = [
            (value - known.value - known.slope * longer) / known.spread
            for value, known in zip(values, usual, strict=True)
        ]
        rows.append([-steps[0], *steps[1:]])
    return np.array(rows)


def _logistic(inputs: Rows, targets: Rows, importance: Rows) -> Rows:
    """Weights of a logistic regression, ridge towards `PRIOR`, by projected gradient descent."""
    weights = np.full(inputs.shape[1], PRIOR)
    least = np.zeros(inputs.shape[1])
    least[0] = PRIOR / 10
    offset = 0.0
    # A bound of the curvature, so that no step overshoots.
    rate = 1.0 / (0.25 * float((importance[:, None] * (inputs**2 + 1)).sum()) + RIDGE)
    for _ in range(_STEPS):
        odds = inputs @ weights + offset
        error = importance * (1.0 / (1.0 + np.exp(-odds)) - targets)
        weights = np.maximum(weights - rate * (error @ inputs + RIDGE * (weights - PRIOR)), least)
        offset -= rate * float(error.sum())
    return weights
