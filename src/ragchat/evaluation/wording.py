"""Figures in words and rows, the same on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_DEPTHS = ("1", "4", "10")
Rows = list[list[str]]


def counted(number: int, one: str, many: str = "") -> str:
    """ "1 near miss", "2 near misses"; many: where it is not `one` with an s."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def questions_counted(questions: Mapping[str, Any]) -> str:
    """ "2 answerable questions, 1 near miss and 1 other to be refused"."""
    sorts = (
        counted(questions["answerable"], "answerable question"),
        counted(questions["near"], "near miss", "near misses"),
    )
    return f"{', '.join(sorts)} and {counted(questions['far'], 'other')} to be refused"


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


def rankings_table(rankings: Mapping[str, Any]) -> Rows:
    """One row a ranking."""
    rows = [["", *(f"recall@{depth}" for depth in _DEPTHS), "all spans@4", "mrr", "characters@4"]]
    for name, ranking in rankings.items():
        recall = ranking["recall"]
        whole = [interval(recall["whole"][depth]) for depth in _DEPTHS]
        every, mrr = recall["every"]["4"]["value"], ranking["mrr"]["value"]
        rows.append([name, *whole, f"{every:.3f}", f"{mrr:.3f}", f"{ranking['characters']['4']:,.0f}"])
    return rows


def strategies_table(reports: Sequence[Mapping[str, Any]]) -> Rows:
    """One row a strategy, in ragchat's order, with what the cutting did."""
    head = ["", "recall@1", "recall@4", "dense@4", "bm25@4", "mrr", "characters@4"]
    rows = [[*head, "cut answers", "headers", "too long", "growth", "ms"]]
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
        times = report["latency_ms"]
        rows.append([report["strategy"], *found, *built, f"{times['median']:.0f}" if times else "–"])
    return rows


def answers_table(answers: Mapping[str, Any]) -> Rows:
    """What was sent against what the answer did with it; rows without an answer are left out."""
    deeds = list(next(iter(answers["table"].values())))
    rows = [["", *deeds]]
    rows += [
        [sent, *(str(counts[deed]) for deed in deeds)]
        for sent, counts in answers["table"].items()
        if any(counts.values())
    ]
    return rows


def answers_lines(answers: Mapping[str, Any]) -> list[str]:
    """The shares over all answers, and the two faults by name."""
    names = {"cited": "cite a source", "invalid": "cite a number that no source has", "abstained": "abstain"}
    lines = [f"{name}: {interval(answers[field])} of the answers given" for field, name in names.items()]
    if answers["sentences_found"]:
        found = interval(answers["sentences_found"])
        lines.append(f"sentences found in the source they cite (words and numbers; no proof): {found}")
    sent, unsent = answers["table"]["gold sent"], answers["table"]["gold not sent"]
    ignored = sum(sent.values()) - sent["cites the gold"]
    lines.append(f"not retrieved: {sum(unsent.values())}; retrieved but ignored: {ignored}")
    return lines


def suite_table(reports: Sequence[Mapping[str, Any]]) -> Rows:
    """One row a set."""
    head = ["", "questions", "recall@1", "recall@4", "mrr", "lost", "near bluffs", "far bluffs"]
    rows = [[*head, "AUC near", "AUC far"]]
    for report in reports:
        ranking, gate = report["rankings"].get("ragchat"), report["gate"]
        found = ["–", "–", "–"]
        if ranking:
            whole = ranking["recall"]["whole"]
            found = [interval(whole["1"]), interval(whole["4"]), f"{ranking['mrr']['value']:.3f}"]
        shares = [interval(gate[field]) for field in ("lost", "near", "far", "auc_near", "auc_far")]
        rows.append([report["name"], f"{report['questions']['asked']:,}", *found, *shares])
    return rows
