"""One question over synthetic indexes of growing size: each part of the search, opening, memory, growth.

The vectors, the texts and the questions are the same for all contenders; `X @ q` in numpy, one row of the
table, is what an exact scan in fp32 cannot do without.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from benchmarks.child import Child
from benchmarks.folder import SyntheticFolder, synthetic_folder
from benchmarks.plan import Plan
from benchmarks.report import Row, row_of
from benchmarks.series import Series, take_turns
from benchmarks.synthetic import DIMENSIONS

SUBJECT = "queries"

_PARTS = ("dense", "bm25", "fusion", "candidates", "gate")
_PEERS = {
    "rank-bm25": 100_000,
    "bm25s": 1_000_000,
    "tantivy": 1_000_000,
    "usearch": 1_000_000,
    "chromadb": 10_000,
}
"""The largest index each is asked for: beyond it, building takes minutes."""
_LARGE = 50_000


@dataclass(slots=True)
class _Contenders:
    """Everybody who has the material of one size."""

    ragchat: Child
    numpy: Child
    peers: dict[str, Child] = field(default_factory=dict)
    built: dict[str, float] = field(default_factory=dict)
    opened: Series = field(default_factory=lambda: Series(()))
    first: float = 0.0


def measure(plan: Plan) -> list[Row]:
    """All sizes, smallest first, then how the cost grew."""
    rows: list[Row] = []
    totals: dict[int, Series] = {}
    for size in sorted(plan.sizes):
        with _contenders(plan, synthetic_folder(plan, size)) as contenders:
            found, totals[size] = _measure_size(plan, size, contenders)
            rows += found
    return rows + _growth(totals)


@contextmanager
def _contenders(plan: Plan, made: SyntheticFolder) -> Iterator[_Contenders]:
    material = made.material
    request = {**material.as_request(), "folder": str(made.notes)}
    environment = plan.environment(made.home)
    with ExitStack() as stack:
        built = {"ragchat": made.seconds}
        scratch = stack.enter_context(tempfile.TemporaryDirectory(dir=plan.work))
        ragchat = stack.enter_context(Child("ragchat_index", environment=environment))
        numpy = stack.enter_context(Child("numpy_scan", environment=environment))
        ragchat.ask("load", **request)
        opened = []
        for _ in range(max(3, plan.rounds // 8) if material.size <= _LARGE else 3):
            opened.append(ragchat.seconds("open"))
            ragchat.ask("close")
        ragchat.ask("open")
        first = ragchat.seconds("retrieve", round=0)
        numpy.ask("open", **request)
        all_of_them = _Contenders(ragchat, numpy, {}, built, Series(tuple(opened)), first)
        for name, largest in _PEERS.items():
            if plan.peers is not None and name in plan.peers and material.size <= largest:
                module = f"{name.replace('-', '_')}_peer"
                child = stack.enter_context(Child(module, python=plan.peers.python))
                built[name] = child.seconds("build", **{**request, "folder": f"{scratch}/{name}"})
                all_of_them.peers[name] = child
        yield all_of_them


def _measure_size(plan: Plan, size: int, contenders: _Contenders) -> tuple[list[Row], Series]:
    ragchat, numpy = contenders.ragchat, contenders.numpy
    memory = ragchat.memory()
    answers: list[dict[str, float]] = []

    def parts(number: int) -> float:
        answers.append(ragchat.ask("parts", round=number))
        return answers[-1]["dense"]

    turns = take_turns(
        {
            "product": lambda number: numpy.seconds("product", round=number),
            "parts": parts,
            "retrieve": lambda number: ragchat.seconds("retrieve", round=number),
            **{
                name: lambda number, child=child: child.seconds("query", round=number)  # type: ignore[misc]
                for name, child in contenders.peers.items()
            },
        },
        plan.rounds,
        warm_up=3,
    )
    part = {name: Series(tuple(answer[name] for answer in answers[3:])) for name in _PARTS}
    product, total = turns["product"], turns["retrieve"]
    peers = {name: turns[name] for name in contenders.peers}
    rows = _rows_of_parts(size, part, product, total, peers)
    rows += _rows_of_opening(size, contenders)
    case = f"{size:,} chunks"
    vectors = size * DIMENSIONS * 4
    resident = memory.anonymous + memory.file_backed
    rows += [
        Row(SUBJECT, case, "memory, anonymous", memory.anonymous / 1e6, "MB"),
        Row(
            SUBJECT,
            case,
            "memory, resident",
            resident / 1e6,
            "MB",
            ratio=resident / vectors,
            against="vectors",
            goal="vectors + 30 %" if size > _LARGE else "",
            met=resident <= 1.3 * vectors if size > _LARGE else None,
        ),
    ]
    if "chromadb" in contenders.peers:
        recall = contenders.peers["chromadb"].ask("recall")["recall"]
        rows.append(Row(SUBJECT, case, "chromadb, share of the 40 nearest found", recall, ""))
    return rows, total


def _rows_of_parts(
    size: int, part: dict[str, Series], product: Series, total: Series, peers: dict[str, Series]
) -> list[Row]:
    case = f"{size:,} chunks"
    lexical = {name: peers[name] for name in ("bm25s", "tantivy", "rank-bm25") if name in peers}
    rows = [
        row_of(SUBJECT, case, "numpy X @ q", product),
        row_of(SUBJECT, case, "ragchat dense", part["dense"], against=("X @ q", product)),
        *(
            row_of(SUBJECT, case, label, peers[name], against=("X @ q", product))
            for name, label in (("usearch", "usearch exact"), ("chromadb", "chromadb, approximate"))
            if name in peers
        ),
    ]
    if "bm25s" in lexical:
        ratio, wanted = part["bm25"].over(lexical["bm25s"]), {100_000: 1.5, 1_000_000: 1.0}.get(size)
        rows.append(
            row_of(
                SUBJECT,
                case,
                "ragchat BM25",
                part["bm25"],
                against=("bm25s", lexical["bm25s"]),
                goal=f"{wanted} × bm25s" if wanted else "",
                met=ratio <= wanted if wanted else None,
            )
        )
    else:
        rows.append(row_of(SUBJECT, case, "ragchat BM25", part["bm25"]))
    rows += [row_of(SUBJECT, case, name, series) for name, series in lexical.items()]
    rows += [
        row_of(SUBJECT, case, f"ragchat {name}", part[name]) for name in ("fusion", "candidates", "gate")
    ]
    goal, met = _goal_of_total(size, product, total)
    rows.append(
        row_of(SUBJECT, case, "ragchat, all of it", total, against=("X @ q", product), goal=goal, met=met)
    )
    return rows


def _goal_of_total(size: int, product: Series, total: Series) -> tuple[str, bool | None]:
    if size == 100_000:
        return "X @ q + 3 ms", total.median <= product.median + 0.003
    if size == 1_000_000:
        return "1.15 × X @ q", total.over(product) <= 1.15
    return "", None


def _rows_of_opening(size: int, contenders: _Contenders) -> list[Row]:
    case = f"{size:,} chunks"
    bound = {100_000: 0.050, 1_000_000: 0.100}.get(size)
    rows = [
        row_of(
            SUBJECT,
            case,
            "ragchat opens",
            contenders.opened,
            goal=f"{bound * 1000:.0f} ms" if bound else "",
            met=contenders.opened.median <= bound if bound else None,
        ),
        row_of(SUBJECT, case, "ragchat, first question after opening", Series((contenders.first,))),
    ]
    rows += [Row(SUBJECT, case, f"{name} builds", seconds, "s") for name, seconds in contenders.built.items()]
    return rows


def _growth(totals: dict[int, Series]) -> list[Row]:
    """Cost a chunk at each size beside the size before it; 1.0 is linear."""
    rows = []
    sizes = sorted(totals)
    for small, large in pairwise(sizes):
        ratio = totals[large].median / totals[small].median / (large / small)
        case = f"{small:,} to {large:,} chunks"
        rows.append(
            Row(SUBJECT, case, "cost a chunk, all of it", ratio, "×", goal="linear", met=ratio <= 1.2)
        )
    return rows
