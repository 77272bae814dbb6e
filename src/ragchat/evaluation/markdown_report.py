"""A report as Markdown with its plots: a folder that can be kept, compared and shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragchat.errors import StorageFailed
from ragchat.evaluation.plots import plots_of
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

Report = Mapping[str, Any]

_ABOUT = {
    "recall.svg": "Recall against the number of passages",
    "characters.svg": "Recall against the characters passed on",
    "distances.svg": "Distance of the nearest passage less the question's threshold (refused right of 0)",
    "bluffs.svg": "Bluffs against lost answers as the threshold moves",
    "ranks.svg": "At which rank each question's answer was found",
}


def write_report(reports: Sequence[Report], folder: Path) -> Path:
    """Write `report.md`, `report.json` and the SVG plots into the folder; the path of the Markdown.

    Several reports (a suite) get a table over all and one folder of plots each.
    Raises StorageFailed, SetupError where matplotlib is not installed.
    """
    drawn = [plots_of(report) for report in reports]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lines = ["# Evaluation", ""]
        if len(reports) > 1:
            lines += [*markdown_table(suite_table(reports)), ""]
        for number, (report, plots) in enumerate(zip(reports, drawn, strict=True), start=1):
            place = f"{number:02}" if len(reports) > 1 else "."
            (folder / place).mkdir(exist_ok=True)
            for name, svg in plots.items():
                (folder / place / name).write_text(svg, encoding="utf-8")
            images = [f"![{_ABOUT[name]}]({place}/{name})" for name in plots]
            lines += [*_section(report), *(line for image in images for line in (image, ""))]
        lines += [f"*{reports[0]['caveat']}*", ""]
        path = folder / "report.md"
        path.write_text("\n".join(lines), encoding="utf-8")
        whole = json.dumps(reports[0] if len(reports) == 1 else {"sets": reports}, ensure_ascii=False)
        (folder / "report.json").write_text(whole, encoding="utf-8")
    except OSError as error:
        raise StorageFailed(
            f"{folder} cannot be written: {error.strerror or error}", hint="name another folder: --report DIR"
        ) from error
    return path


def _section(report: Report) -> list[str]:
    questions, corpus, embedder = report["questions"], report["corpus"], report["stamp"]["embedder"]
    lines = [
        f"## {_plain(report['name'])}",
        "",
        f"Made {report['made']} with ragchat {report['ragchat']}: {questions_counted(questions)}, asked "
        f"of {counted(corpus['documents'], 'document')} in {counted(corpus['chunks'], 'passage')}.",
        "",
        f"- corpus `{corpus['sha256'][:16]}`, questions `{questions['sha256'][:16]}`",
        f"- embedder {_plain(embedder['model'])}, weights `{embedder['weights'][:16]}`, "
        f"{_plain(embedder['runtime'])}; chunker `{report['stamp']['chunker']}`",
        f"- threshold {report['threshold']['value']:.3f} ({report['threshold']['origin']}): "
        f"{_plain(report['threshold']['detail'])}",
    ]
    if unusable := questions["unusable"]:
        lines.append(f"- {counted(len(unusable), 'question')} could not be used:")
        lines += [f"    - {_plain(problem)}" for problem in unusable]
    lines.append("")
    if report["rankings"]:
        lines += [*markdown_table(rankings_table(report["rankings"])), ""]
        lines += [*(f"- {_plain(described(test))}" for test in report["paired"]), ""]
    lines += [*_gate(report["gate"]), ""]
    if report["strategies"]:
        lines += [*markdown_table(strategies_table([report, *report["strategies"]])), ""]
        lines += [*(f"- {_plain(described(test))}" for test in report["strategies_paired"]), ""]
    if answers := report.get("answers"):
        lines += [f"{counted(answers['asked'], 'answer')} by {_plain(answers['model'])}:", ""]
        lines += [
            *markdown_table(answers_table(answers)),
            "",
            *(f"- {told}" for told in answers_lines(answers)),
            "",
        ]
    return lines


def _gate(gate: Report) -> list[str]:
    names = {
        "lost": "answers lost",
        "answered": "whole answer sent",
        "near": "near misses bluffed",
        "far": "others bluffed",
        "auc_near": "AUC, near misses",
        "auc_far": "AUC, others",
    }
    rows = [["", "share"], *([name, interval(gate[field])] for field, name in names.items() if gate[field])]
    rows += [[f"· {kind}", interval(share)] for kind, share in gate["kinds"].items()]
    return list(markdown_table(rows))


def markdown_table(rows: Sequence[Sequence[str]]) -> Iterable[str]:
    """The rows as a Markdown table, the first one its head; numbers to the right."""
    for number, row in enumerate(rows):
        yield f"| {' | '.join(map(_plain, row))} |"
        if number == 0:
            yield f"| --- |{' ---: |' * (len(row) - 1)}"


def _plain(text: str) -> str:
    """Text of other people as one line in which nothing is markup."""
    escaped = "".join(f"\\{character}" if character in "\\`*_[]<>|#" else character for character in text)
    return "".join(character if character.isprintable() else " " for character in escaped)
