"""What `eval --fail-under METRIC=VALUE` asks for, and whether a report misses it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ragchat.answering.escape import escape_line
from ragchat.cli.console import note
from ragchat.errors import UsageError
from ragchat.evaluation.report import is_metric, metrics_of, smaller_is_better

_HINT = "--fail-under recall@4=0.8; docs/evaluation.md tells the names of the figures"


def target_of(text: str) -> tuple[str, float]:
    """Name and value. Raises UsageError, before hours are spent on measuring what has no such figure."""
    name, _, value = (part.strip() for part in text.partition("="))
    if not is_metric(name):
        raise UsageError(f"--fail-under {text}: there is no metric {name!r}", hint=_HINT)
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise UsageError(f"--fail-under {text}: write METRIC=VALUE", hint=_HINT)
    return name, number


def misses(reports: Sequence[Mapping[str, Any]], targets: Sequence[tuple[str, float]]) -> bool:
    """Whether a target is missed by any set that has the metric; each is told."""
    missed = False
    for name, wanted in targets:
        values = {report["name"]: metrics_of(report).get(name) for report in reports}
        known = {of: value for of, value in values.items() if value is not None}
        if not known:
            names = ", ".join(dict.fromkeys(name for report in reports for name in metrics_of(report)))
            raise UsageError(f"--fail-under: the questions asked give no {name}", hint=f"one of: {names}")
        for of, value in known.items():
            fails = value > wanted if smaller_is_better(name) else value < wanted
            place = f"{escape_line(of)}: " if len(reports) > 1 else ""
            note(f"{place}{name} is {value:.3f}, the target {wanted:g}: {'missed' if fails else 'met'}")
            missed = missed or fails
    return missed
