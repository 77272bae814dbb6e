"""A report for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragchat.answering.escape import escape_line
from ragchat.cli.console import note, say, styled

_DEPTHS = ("1", "4", "10")


def print_report(report: Mapping[str, Any]) -> None:
    """The tables of one examination, on stdout; what to beware of, on stderr."""
    questions, corpus = report["questions"], report["corpus"]
    say(styled(escape_line(report["name"]), "1"))
    say(
        f"  {questions['answerable']:,} answerable questions, {questions['near']:,} near misses and "
        f"{questions['far']:,} others to be refused; "
        f"{corpus['documents']:,} documents, {corpus['chunks']:,} passages"
    )
    if report["rankings"]:
        say()
        _print_rankings(report["rankings"])
        for test in report["paired"]:
            say(f"  {described(test)}")
    say()
    _print_gate(report["gate"], report["threshold"])
    if times := report["latency_ms"]:
        say(f"  a question takes {times['median']:.0f} ms (95 % within {times['p95']:.0f})")
    say(f"  made {report['made']}, corpus {corpus['sha256'][:12]}, questions {questions['sha256'][:12]}")
    note(report["caveat"])


def described(test: Mapping[str, Any]) -> str:
    """`ragchat against dense, recall@1: +18/−3, p = 0.0015`."""
    verdict = "" if test["distinguishable"] else ": not distinguishable"
    return (
        f"{test['first']} against {test['second']}, recall@{test['k']}: "
        f"+{test['wins']}/−{test['losses']}, {shown_p(test['p'])}{verdict}"
    )


def shown_p(p: float) -> str:
    """`p = 0.0015`, `p = 0.79`, `p < 0.0001`."""
    if p < 0.0001:
        return "p < 0.0001"
    return f"p = {p:.2f}" if p >= 0.1 else f"p = {p:.4f}"


def interval(share: Mapping[str, Any] | None) -> str:
    """`0.655 (0.574–0.729)`."""
    if share is None:
        return "–"
    return f"{share['value']:.3f} ({share['low']:.3f}–{share['high']:.3f})"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows in columns; the first column to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _print_rankings(rankings: Mapping[str, Any]) -> None:
    head = ["", *(f"recall@{depth}" for depth in _DEPTHS), "all spans@4", "mrr", "characters@4"]
    rows = [head]
    for name, ranking in rankings.items():
        recall = ranking["recall"]
        rows.append(
            [
                name,
                *(interval(recall["whole"][depth]) for depth in _DEPTHS),
                f"{recall['every']['4']['value']:.3f}",
                f"{ranking['mrr']['value']:.3f}",
                f"{ranking['characters']['4']:,.0f}",
            ]
        )
    for line in table(rows):
        say(f"  {line}")


def _print_gate(gate: Mapping[str, Any], threshold: Mapping[str, Any]) -> None:
    detail = f": {escape_line(threshold['detail'])}" if threshold["detail"] else ""
    say(f"  threshold {threshold['value']:.3f} ({threshold['origin']}{detail})")
    shares = (("lost answers", "lost"), ("near misses bluffed", "near"), ("others bluffed", "far"))
    rows = [[name, interval(gate[field])] for name, field in shares if gate[field]]
    if len(gate["kinds"]) > 1:
        rows += [[f"  {escape_line(kind)[:40]}", interval(share)] for kind, share in gate["kinds"].items()]
    areas = (("AUC, near misses", "auc_near"), ("AUC, others", "auc_far"))
    rows += [[name, interval(gate[field])] for name, field in areas if gate[field]]
    for line in table(rows) if rows else ():
        say(f"  {line}")
    point = gate["at_2_percent_lost"]
    if point:
        told = [
            f"{point[sort]:.1%} of {name}"
            for sort, name in (("near", "near misses"), ("far", "others"))
            if point[sort] is not None
        ]
        moved = f"with the threshold moved by {point['shift']:+.3f}, {point['lost']:.1%} lost"
        say(f"  {moved}: {', '.join(told)} bluffed")
