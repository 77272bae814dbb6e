"""Reports for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragchat.answering.escape import escape_line
from ragchat.cli.console import say, styled

_DEPTHS = ("1", "4", "10")


def print_report(report: Mapping[str, Any]) -> None:
    """The tables of one folder."""
    questions, corpus = report["questions"], report["corpus"]
    say(styled(escape_line(report["name"]), "1"))
    say(
        f"  {questions['answerable']:,} answerable questions, {questions['near']:,} near misses and "
        f"{questions['far']:,} others to be refused; "
        f"{corpus['documents']:,} documents, {corpus['chunks']:,} passages"
    )
    if report["rankings"]:
        say()
        _print_table(_rankings(report["rankings"]))
        for test in report["paired"]:
            say(f"  {described(test)}")
    say()
    _print_gate(report["gate"], report["threshold"])
    if report["strategies"]:
        say()
        _print_table(_strategies([report, *report["strategies"]]))
        for test in report["strategies_paired"]:
            say(f"  {described(test)}")
    if times := report["latency_ms"]:
        say(f"  a question takes {times['median']:.0f} ms (95 % within {times['p95']:.0f})")
    say(f"  made {report['made']}, corpus {corpus['sha256'][:12]}, questions {questions['sha256'][:12]}")


def print_suite(reports: Sequence[Mapping[str, Any]]) -> None:
    """One line for each set."""
    rows = [
        [
            "",
            "questions",
            "recall@1",
            "recall@4",
            "mrr",
            "lost",
            "near bluffs",
            "far bluffs",
            "AUC near",
            "AUC far",
        ]
    ]
    for report in reports:
        ranking, gate = report["rankings"].get("ragchat"), report["gate"]
        found = ("–", "–", "–")
        if ranking:
            whole = ranking["recall"]["whole"]
            found = (interval(whole["1"]), interval(whole["4"]), f"{ranking['mrr']['value']:.3f}")
        shares = [interval(gate[field]) for field in ("lost", "near", "far", "auc_near", "auc_far")]
        rows.append([escape_line(report["name"]), f"{report['questions']['asked']:,}", *found, *shares])
    _print_table(rows)


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


def _print_table(rows: Sequence[Sequence[str]]) -> None:
    """The first column to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        first, *others = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        say("  " + "  ".join((first, *others)).rstrip())


def _rankings(rankings: Mapping[str, Any]) -> list[list[str]]:
    rows = [["", *(f"recall@{depth}" for depth in _DEPTHS), "all spans@4", "mrr", "characters@4"]]
    for name, ranking in rankings.items():
        recall = ranking["recall"]
        whole = [interval(recall["whole"][depth]) for depth in _DEPTHS]
        every, mrr = recall["every"]["4"]["value"], ranking["mrr"]["value"]
        rows.append([name, *whole, f"{every:.3f}", f"{mrr:.3f}", f"{ranking['characters']['4']:,.0f}"])
    return rows


def _strategies(reports: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    head = ["", "recall@1", "recall@4", "dense@4", "bm25@4", "mrr", "characters@4"]
    rows = [[*head, "cut answers", "headers", "too long", "growth"]]
    for report in reports:
        rankings, structure = report["rankings"], report["structure"]
        found = ["–"] * 6
        if rankings:
            ours = rankings["ragchat"]
            at_4 = [f"{rankings[name]['recall']['whole']['4']['value']:.3f}" for name in ("dense", "bm25")]
            whole = ours["recall"]["whole"]
            found = [interval(whole["1"]), interval(whole["4"]), *at_4]
            found += [f"{ours['mrr']['value']:.3f}", f"{ours['characters']['4']:,.0f}"]
        cut = structure["destroyed"]
        built = ["–" if cut is None else f"{cut['value']:.1%}", f"{structure['header_share']:.0%}"]
        built += [f"{structure['over_window']:,}", f"{structure['growth']:.2f}"]
        rows.append([report["strategy"], *found, *built])
    return rows


def _print_gate(gate: Mapping[str, Any], threshold: Mapping[str, Any]) -> None:
    detail = f": {escape_line(threshold['detail'])}" if threshold["detail"] else ""
    say(f"  threshold {threshold['value']:.3f} ({threshold['origin']}{detail})")
    shares = (("lost answers", "lost"), ("near misses bluffed", "near"), ("others bluffed", "far"))
    rows = [[name, interval(gate[field])] for name, field in shares if gate[field]]
    if len(gate["kinds"]) > 1:
        rows += [[f"  {escape_line(kind)[:40]}", interval(share)] for kind, share in gate["kinds"].items()]
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
