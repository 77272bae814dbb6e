"""What the user's own questions moved the threshold by, kept beside the automatic one.

Kept as a shift, not as a number: the automatic threshold goes on following the folder and the question.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace

from ragchat.index.protocol import Index
from ragchat.retrieval.trace import Threshold


@dataclass(frozen=True, slots=True)
class Calibration:
    """shift: in cosine distance, positive where more passes. detail: as in `Threshold`."""

    shift: float
    detail: str


def kept_calibration(index: Index) -> Calibration | None:
    """What was chosen for the index as it is stamped now; None where nothing was."""
    if index.stamp is None or not (text := index.read_value(_key(index))):
        return None
    try:
        kept = json.loads(text)
        shift = float(kept["shift"])
        return Calibration(shift, str(kept["detail"])) if math.isfinite(shift) else None
    except (ValueError, TypeError, KeyError):
        return None  # not ours, or damaged


def keep_calibration(index: Index, calibration: Calibration | None) -> None:
    """From now on the threshold is moved so; None goes back to the automatic one.

    Raises StorageFailed. Before anything was indexed there is nothing to move, and nothing is kept.
    """
    if index.stamp is not None:
        index.write_value(_key(index), json.dumps(asdict(calibration)) if calibration else "")


def moved(threshold: Threshold, calibration: Calibration | None) -> Threshold:
    """The threshold with the shift, for every question alike."""
    if calibration is None:
        return threshold
    shift = calibration.shift
    gates = tuple(
        replace(gate, base=_within(gate.base + shift), reach=_within(gate.reach + max(shift, 0.0)))
        for gate in threshold.gates
    )
    value = gates[0].base if gates else _within(threshold.value + shift)
    return Threshold(value, "calibrated", calibration.detail, gates, shift=shift)


def _within(value: float) -> float:
    """A cosine distance, in the three decimals that are shown."""
    return round(min(max(value, 0.0), 2.0), 3)


def _key(index: Index) -> str:
    stamp = index.stamp
    assert stamp is not None
    digest = hashlib.sha256(json.dumps(asdict(stamp), sort_keys=True).encode()).hexdigest()
    return f"calibration:{digest[:32]}"
