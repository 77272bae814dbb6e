"""The plots of a report as SVG, drawn by matplotlib (the optional extra `report`).

Colours are those of Okabe and Ito, which people with colour blindness can tell apart; lines differ in their
marks, too. The same report gives the same bytes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragchat.errors import SetupError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
_MARKS = "osD^vPX*"
_GRID = ((1, "#0072B2"), (4, "#56B4E9"), (10, "#E69F00"), (20, "#D55E00"))
_NOWHERE = "#DDDDDD"
_MOST_ROWS = 400

Report = Mapping[str, Any]


def plots_of(report: Report) -> dict[str, str]:
    """File name -> SVG, of every plot for which the report has data.

    Raises SetupError where matplotlib is not installed.
    """
    drawn: dict[str, str] = {}
    if report["rankings"]:
        drawn["recall.svg"] = _drawn(lambda axes: _recall(axes, report), width=8.5)
        drawn["characters.svg"] = _drawn(lambda axes: _characters(axes, report), width=8.5)
        drawn["ranks.svg"] = _drawn(lambda axes: _rank_grid(axes, report), width=9, height=5)
    drawn["distances.svg"] = _drawn(lambda axes: _distances(axes, report))
    if report["gate"]["lost"] and (report["gate"]["near"] or report["gate"]["far"]):
        drawn["bluffs.svg"] = _drawn(lambda axes: _bluffs(axes, report))
    return drawn


def _drawn(draw: Callable[[Axes], None], *, width: float = 7, height: float = 4) -> str:
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise SetupError(
            "plots need matplotlib, which is not installed", hint="pip install 'ragchat-tui[report]'"
        ) from error
    # Question and file names may hold a $, which is no formula; text stays text; ids do not change each time.
    with mpl.rc_context({"svg.hashsalt": "ragchat", "svg.fonttype": "none", "text.parse_math": False}):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.add_subplot()
        axes.spines[["top", "right"]].set_visible(False)
        draw(axes)
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": "ragchat"})
    return written.getvalue()


def _lines(report: Report) -> list[tuple[str, Mapping[str, Any]]]:
    """The four rankings; with other strategies, ragchat's order under each instead."""
    if not report["strategies"]:
        return list(report["rankings"].items())
    return [(one["strategy"], one["rankings"]["ragchat"]) for one in (report, *report["strategies"])]


def _style(number: int) -> dict[str, Any]:
    """Of one line among up to twenty-four: colours and marks come again, the strokes then differ."""
    stroke = ("-", "--", ":")[number // 8 % 3]
    place = number % 8
    return {
        "color": _COLOURS[place],
        "marker": _MARKS[place],
        "markersize": 4,
        "linewidth": 1.2,
        "linestyle": stroke,
        "clip_on": False,
    }


def _recall(axes: Axes, report: Report) -> None:
    depths: list[int] = []
    for number, (name, ranking) in enumerate(_lines(report)):
        shares = ranking["recall"]["whole"]
        depths = [int(depth) for depth in shares]
        axes.plot(depths, [share["value"] for share in shares.values()], label=name, **_style(number))
        if number == 0 or not report["strategies"]:
            low, high = ([share[end] for share in shares.values()] for end in ("low", "high"))
            axes.fill_between(depths, low, high, color=_COLOURS[number % 8], alpha=0.1, linewidth=0)
    axes.set_xticks(depths)
    _labelled(axes, "k passages", "recall@k (whole span), 95 % interval")


def _characters(axes: Axes, report: Report) -> None:
    for number, (name, ranking) in enumerate(_lines(report)):
        shares = ranking["recall"]["whole"]
        passed = [ranking["characters"][depth] for depth in shares]
        axes.plot(passed, [share["value"] for share in shares.values()], label=name, **_style(number))
    _labelled(axes, "characters passed on (mean)", "recall (whole span)")


def _labelled(axes: Axes, across: str, up: str) -> None:
    axes.set(xlabel=across, ylabel=up, ylim=(0, 1.02))
    axes.grid(alpha=0.3)
    # Beside the lines: with a dozen of them there is no free corner.
    axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, handlelength=3.5)


def _distances(axes: Axes, report: Report) -> None:
    sorts: dict[str, list[float]] = {"answerable": [], "near misses": [], "others to be refused": []}
    for row in report["grid"]:
        if row["excess"] is not None:
            sorts[_sort(row)].append(row["excess"])
    every = [value for values in sorts.values() for value in values] or [0.0]
    steps = [min(every) + (max(every) - min(every)) * part / 30 for part in range(31)]
    for number, (name, values) in enumerate(sorts.items()):
        if values:
            weights = [1 / len(values)] * len(values)
            told = f"{name} ({len(values)})"
            axes.hist(
                values,
                steps,
                weights=weights,
                histtype="step",
                color=_COLOURS[number],
                label=told,
                linewidth=1.5,
            )
    axes.axvline(0, color="black", linewidth=1, linestyle="--", label="threshold")
    axes.set(xlabel="cosine distance of the nearest passage − threshold of the question", ylabel="share")
    axes.legend(fontsize=8)


def _sort(row: Report) -> str:
    if row["answerable"]:
        return "answerable"
    return "near misses" if row["nearness"] == "near" else "others to be refused"


def _bluffs(axes: Axes, report: Report) -> None:
    sweep, gate = report["gate"]["sweep"], report["gate"]
    for number, (field, name) in enumerate((("near", "near misses"), ("far", "others"))):
        points = [(p["lost"], p[field]) for p in sweep if p["lost"] is not None and p[field] is not None]
        if points:
            axes.plot(*zip(*points, strict=True), color=_COLOURS[number], label=name, linewidth=1.5)
        if gate["lost"] and gate[field]:
            axes.plot(
                gate["lost"]["value"],
                gate[field]["value"],
                _MARKS[number],
                color=_COLOURS[number],
                markersize=8,
                clip_on=False,
            )
    axes.set(xlabel="answers lost", ylabel="bluffs", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, title="as the threshold moves;\nmarks: now")


def _rank_grid(axes: Axes, report: Report) -> None:
    """A column a question, a row a strategy; the easiest questions to the left."""
    rows = [row for row in report["grid"] if row["answerable"]]
    if report["strategies"]:
        columns = {name: (name, "ragchat") for name in rows[0]["ranks"]}
    else:
        (only,) = rows[0]["ranks"]
        columns = {ranking: (only, ranking) for ranking in report["rankings"]}
    places = [[_rank(row, *column) for column in columns.values()] for row in rows]
    places = sorted(places, key=lambda ranks: (sum(math.log(rank) for rank in ranks), ranks))
    places = _thinned(places)
    axes.imshow(
        [[_band(ranks[line]) for ranks in places] for line in range(len(columns))],
        aspect="auto",
        interpolation="nearest",
        cmap=_colour_map(),
        vmin=0,
        vmax=len(_GRID),
    )
    axes.set_yticks(range(len(columns)), list(columns), fontsize=8)
    axes.locator_params(axis="x", integer=True)
    axes.set(xlabel=f"questions ({len(places)} of {len(rows)}), the easiest first")
    names = ["rank 1", "2–4", "5–10", "11–20", "later or not found"]
    colours = [*(colour for _, colour in _GRID), _NOWHERE]
    for name, colour in zip(names, colours, strict=True):
        axes.plot([], [], "s", color=colour, label=name)
    axes.legend(fontsize=8, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _rank(row: Report, strategy: str, ranking: str) -> float:
    return float(row["ranks"][strategy][ranking] or 10**6)


def _band(rank: float) -> int:
    return next((number for number, (last, _) in enumerate(_GRID) if rank <= last), len(_GRID))


def _thinned(rows: Sequence[list[float]]) -> list[list[float]]:
    step = max(1.0, len(rows) / _MOST_ROWS)
    return [rows[int(place * step)] for place in range(min(len(rows), _MOST_ROWS))]


def _colour_map() -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([*(colour for _, colour in _GRID), _NOWHERE])
