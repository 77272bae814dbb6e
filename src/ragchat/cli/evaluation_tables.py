"""Reports for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragchat.answering.escape import escape_line
from ragchat.cli.console import say, styled
from ragchat.evaluation.wording import (
    answers_lines,
    answers_table,
    counted,
    described,
    interval,
    questions_counted,
    rankings_table,
    strategies_table,
    suite_table,
)


def print_report(report: Mapping[str, Any]) -> None:
    """The tables of one folder."""
    questions, corpus = report["questions"], report["corpus"]
    say(styled(escape_line(report["name"]), "1"))
    say(
        f"  {questions_counted(questions)}; "
        f"{counted(corpus['documents'], 'document')}, {counted(corpus['chunks'], 'passage')}"
    )
    if report["rankings"]:
        say()
        _print_table(rankings_table(report["rankings"]))
        for test in report["paired"]:
            say(f"  {escape_line(described(test))}")
    say()
    _print_gate(report["gate"], report["threshold"])
    if report["strategies"]:
        say()
        _print_table(strategies_table([report, *report["strategies"]]))
        for test in report["strategies_paired"]:
            say(f"  {escape_line(described(test))}")
    if answers := report.get("answers"):
        say()
        say(f"  {answers['asked']:,} answers by {escape_line(answers['model'])}")
        _print_table(answers_table(answers))
        for line in answers_lines(answers):
            say(f"  {line}")
    if times := report["latency_ms"]:
        say(f"  a question takes {times['median']:.0f} ms (95 % within {times['p95']:.0f})")
    say(f"  made {report['made']}, corpus {corpus['sha256'][:12]}, questions {questions['sha256'][:12]}")


def print_suite(reports: Sequence[Mapping[str, Any]]) -> None:
    """One line for each set."""
    _print_table(suite_table(reports))


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    """The first column to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *others = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        say(escape_line("  " + "  ".join((first, *others)).rstrip()))


def _print_gate(gate: Mapping[str, Any], threshold: Mapping[str, Any]) -> None:
    detail = f": {escape_line(threshold['detail'])}" if threshold["detail"] else ""
    say(f"  threshold {threshold['value']:.3f} ({threshold['origin']}{detail})")
    shares = (("lost answers", "lost"), ("near misses bluffed", "near"), ("others bluffed", "far"))
    rows = [[name, interval(gate[field])] for name, field in shares if gate[field]]
    if len(gate["kinds"]) > 1:
        rows += [[f"  {kind[:40]}", interval(share)] for kind, share in gate["kinds"].items()]
    areas = (("AUC, near misses", "auc_near"), ("AUC, others", "auc_far"))
    rows += [[name, interval(gate[field])] for name, field in areas if gate[field]]
    if rows:
        _print_table(rows)
    point = gate["at_2_percent_lost"]
    if point:
        sorts = (("near", "near misses"), ("far", "others"))
        told = [f"{point[sort]:.1%} of {name}" for sort, name in sorts if point[sort] is not None]
        moved = f"with the threshold moved by {point['shift']:+.3f}, {point['lost']:.1%} lost"
        say(f"  {moved}: {', '.join(told)} bluffed")
