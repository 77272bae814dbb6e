"""`eval`: how well the notes can be searched and how often the assistant would bluff; asks no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ragchat.answering.escape import escape_line
from ragchat.cli.console import interruptible, note, say_json
from ragchat.cli.evaluation_tables import print_report
from ragchat.cli.opening import bring_up_to_date, open_workspace
from ragchat.cli.options import folder_option, json_option, settings_of
from ragchat.cli.progress import StatusLine
from ragchat.errors import UsageError
from ragchat.evaluation.examination import examine, load_folder_questions
from ragchat.evaluation.questions import QuestionSet, thinned
from ragchat.evaluation.report import metrics_of, report_json, smaller_is_better

BELOW_TARGET, INTERRUPTED = 1, 130
_PROBLEMS_SHOWN = 20


@click.command(name="eval")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="QUESTIONS…")
@folder_option
@click.option("--limit", default=0, metavar="N", help="Only N answerable questions, N near misses, N others.")
@click.option("--skip-invalid", is_flag=True, help="Leave out questions that cannot be used.")
@click.option("--no-update", is_flag=True, help="Examine the index as it is.")
@click.option("--fail-under", "targets", multiple=True, metavar="METRIC=VALUE", help="Exit 1 below a target.")
@json_option
def evaluate(
    files: tuple[Path, ...],
    folder: Path | None,
    assignments: tuple[str, ...],
    limit: int,
    skip_invalid: bool,
    no_update: bool,
    targets: tuple[str, ...],
    as_json: bool,
) -> int:
    """Measure retrieval and refusals on QUESTIONS (JSONL or TOML; see docs/evaluation.md). Asks no model.

    Exit 1: a metric misses its --fail-under target ("lost" and "bluffs" are upper bounds).
    """
    wanted = [_target(text) for text in targets]
    settings = settings_of(assignments)
    workspace = open_workspace(folder, settings)
    if not no_update:
        bring_up_to_date(workspace)
    index = workspace.index()
    questions = _usable(load_folder_questions(files, workspace.folder, index, settings), skip_invalid)
    questions = replace(questions, questions=thinned(questions.questions, limit))
    line = StatusLine()
    with interruptible() as stopped:
        try:
            examined = examine(
                ", ".join(str(path) for path in files),
                index,
                workspace.embedder(),
                settings,
                questions,
                on_progress=lambda done, total: line.show(f"asked {done:,} of {total:,} questions"),
                cancel=stopped,
            )
        finally:
            line.clear()
    if stopped.is_set():
        note("interrupted: what was asked is kept, and the next run goes on from there")
        return INTERRUPTED
    report = report_json(examined, questions, datetime.now(UTC).astimezone())
    if as_json:
        say_json(report)
    else:
        print_report(report)
    return BELOW_TARGET if _missed(report, wanted) else 0


def _usable(questions: QuestionSet, skip_invalid: bool) -> QuestionSet:
    """The set, unless something in it is wrong and was not to be skipped."""
    for problem in questions.problems[:_PROBLEMS_SHOWN]:
        note(f"{'left out' if skip_invalid else 'ragchat'}: {escape_line(str(problem))}")
    count = len(questions.problems)
    if count > _PROBLEMS_SHOWN:
        note(f"… and {count - _PROBLEMS_SHOWN:,} more")
    if count and not skip_invalid:
        raise UsageError(
            f"{count:,} of the questions cannot be used", hint="mend them, or leave them out: --skip-invalid"
        )
    if not questions.questions:
        raise UsageError(
            "no question is left to ask", hint="docs/evaluation.md shows how a question file looks"
        )
    return questions


def _target(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name.strip(), float(value)
    except ValueError:
        raise UsageError(
            f"--fail-under {text}: write METRIC=VALUE", hint="--fail-under recall@4=0.8"
        ) from None


def _missed(report: Mapping[str, Any], targets: list[tuple[str, float]]) -> bool:
    """Whether a target is missed; each is told."""
    metrics = metrics_of(report)
    missed = False
    for name, wanted in targets:
        if name not in metrics:
            raise UsageError(
                f"--fail-under: there is no metric {name} here", hint=f"one of: {', '.join(metrics)}"
            )
        value = metrics[name]
        fails = value > wanted if smaller_is_better(name) else value < wanted
        note(f"{name} is {value:.3f}, the target {wanted:g}: {'missed' if fails else 'met'}")
        missed = missed or fails
    return missed
