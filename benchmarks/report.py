"""What a run found: rows for people (Markdown) and for programs (JSON)."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.series import Series

_SCALES = {"ms": 1000.0, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    case: what was done. name: by whom, or which part of it. low, high: the quartiles.
    ratio, against: how many times the value of that other row, as the median of the rounds' ratios.
    goal: the bound that the project set itself, in words; met: whether this run kept it.
    """

    subject: str
    case: str
    name: str
    value: float
    unit: str
    low: float | None = None
    high: float | None = None
    rounds: int = 1
    ratio: float | None = None
    against: str = ""
    goal: str = ""
    met: bool | None = None
    note: str = ""


def row_of(
    subject: str,
    case: str,
    name: str,
    series: Series,
    unit: str = "ms",
    *,
    against: tuple[str, Series] | None = None,
    goal: str = "",
    met: bool | None = None,
    note: str = "",
) -> Row:
    """A row of seconds that were measured, in ms or s."""
    scale = _SCALES[unit]
    low, high = series.quartiles
    return Row(
        subject,
        case,
        name,
        series.median * scale,
        unit,
        low * scale,
        high * scale,
        len(series.values),
        series.over(against[1]) if against else None,
        against[0] if against else "",
        goal,
        met,
        note,
    )


def as_table(rows: Sequence[Row]) -> str:
    """A Markdown table, its columns aligned for a terminal."""
    lines = [("case", "what", "median", "middle half", "ratio", "goal")]
    for row in rows:
        spread = f"{shown(row.low)}–{shown(row.high)}" if row.low is not None and row.rounds > 1 else ""
        ratio = f"{row.ratio:.2f} × {row.against}" if row.ratio is not None else ""
        verdict = {None: "", True: "✓ ", False: "✗ "}[row.met] + row.goal
        name = f"{row.name} ({row.note})" if row.note else row.name
        lines.append((row.case, name, f"{shown(row.value)} {row.unit}", spread, ratio, verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    drawn = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([drawn[0], rule, *drawn[1:]])


def as_json(rows: Sequence[Row], machine: dict[str, object]) -> str:
    """The whole run as one object."""
    return json.dumps(
        {"machine": machine, "rows": [asdict(row) for row in rows]}, indent=1, ensure_ascii=False
    )


def machine_facts(load_before: tuple[float, float, float]) -> dict[str, object]:
    """Where and when the run was, and how busy the machine was with other things at its beginning and end."""
    import ragchat

    source = Path(ragchat.__file__).parent
    return {
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "ragchat": str(source),
        "commit": _commit(source),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "textual": version("textual"),
        "onnxruntime": version("onnxruntime"),
        "load_before": load_before,
        "load_after": os.getloadavg(),
    }


def shown(value: float | None) -> str:
    """A figure for a person; "" for none."""
    if value is None:
        return ""
    if value >= 100:
        return f"{value:,.0f}"
    if 0.999 < value < 1:
        return f"{value:.7f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _commit(folder: Path) -> str:
    told = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
