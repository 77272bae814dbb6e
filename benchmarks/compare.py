"""Two runs beside each other: `python -m benchmarks.compare before.json after.json`, as a Markdown table.

The medians of two runs were measured on a machine that was busy in another way each time; the ratios were
each measured within one run, and they are what may be compared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import Row, shown

Key = tuple[str, str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    before, after = (_rows(Path(path)) for path in arguments or sys.argv[1:3])
    print(as_table(before, after))
    return 0


def as_table(before: Mapping[Key, Row], after: Mapping[Key, Row]) -> str:
    """One line for each figure that either run has."""
    lines = ["| case | what | before | ratio | after | ratio | goal |", "|---|---|---|---|---|---|---|"]
    for key in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(key), after.get(key)
        known = new or old
        assert known is not None
        verdict = {None: "", True: " ✓", False: " ✗"}[known.met]
        cells = [known.case, known.name, *_cells(old), *_cells(new), known.goal + verdict]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(row: Row | None) -> tuple[str, str]:
    if row is None:
        return "", ""
    return (
        f"{shown(row.value)} {row.unit}",
        f"{row.ratio:.2f} × {row.against}" if row.ratio is not None else "",
    )


def _rows(path: Path) -> dict[Key, Row]:
    run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows = [Row(**fields) for fields in run["rows"]]
    return {(row.subject, row.case, row.name): row for row in rows}


if __name__ == "__main__":
    sys.exit(main())
