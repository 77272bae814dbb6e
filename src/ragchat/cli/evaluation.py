"""`eval`: how well the notes can be searched and how often the assistant would bluff; asks no model."""

from __future__ import annotations

import textwrap
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from ragchat.answering.escape import escape_line
from ragchat.answering.workspace import Workspace
from ragchat.cli.console import interruptible, note, say, say_json
from ragchat.cli.evaluation_tables import print_report, print_suite
from ragchat.cli.evaluation_targets import misses, target_of
from ragchat.cli.filtering import filter_options
from ragchat.cli.opening import bring_up_to_date, open_workspace
from ragchat.cli.options import chosen_folder, folder_option, json_option, settings_of
from ragchat.cli.progress import StagesLine
from ragchat.errors import UsageError
from ragchat.evaluation.collection import collected_path
from ragchat.evaluation.examination import load_folder_questions
from ragchat.evaluation.leaning import leaning_chunks
from ragchat.evaluation.questions import Problem, QuestionSet, of_notes, thinned
from ragchat.evaluation.report import answers_json, report_json
from ragchat.evaluation.strategies import Cutting, cuttings_named
from ragchat.evaluation.structure import all_chunks
from ragchat.evaluation.study import study
from ragchat.evaluation.suite import Suite, find_suite, in_the_notes_language
from ragchat.evaluation.wording import counted
from ragchat.retrieval.filters import Filters, narrow
from ragchat.settings import Settings

BELOW_TARGET, INTERRUPTED = 1, 130
_PROBLEMS_SHOWN = 20
_HINT = "docs/evaluation.md shows how a question file looks"


@click.command(name="eval")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="QUESTIONS…")
@folder_option
@filter_options
@click.option("--sets", type=click.Path(path_type=Path), help="Every question set below this folder instead.")
@click.option("--strategies", default="", metavar="NAMES", help="Ways of cutting to compare: all, or a,b.")
@click.option("--embedder", "embedders", multiple=True, metavar="MODEL", help="Embedding models to compare.")
@click.option(
    "--cross-encoder", default="", metavar="MODEL", help="A reranker to compare with, by path or name."
)
@click.option("--leaning", is_flag=True, help="Only list the passages that cannot stand alone; asks nothing.")
@click.option("--limit", default=0, metavar="N", help="Only N answerable questions, N near misses, N others.")
@click.option("--skip-invalid", is_flag=True, help="Leave out questions that cannot be used.")
@click.option("--no-update", is_flag=True, help="Examine the index as it is.")
@click.option(
    "--answers", is_flag=True, help="Have the model answer, too, and see what it made of its sources."
)
@click.option("--model", help="The model for --answers; must be installed.")
@click.option(
    "--report", "folder_of_report", type=click.Path(path_type=Path), help="Write Markdown and plots here."
)
@click.option("--fail-under", "targets", multiple=True, metavar="METRIC=VALUE", help="Exit 1 below a target.")
@json_option
def evaluate(
    files: tuple[Path, ...],
    folder: Path | None,
    assignments: tuple[str, ...],
    filters: Filters,
    sets: Path | None,
    strategies: str,
    embedders: tuple[str, ...],
    cross_encoder: str,
    leaning: bool,
    limit: int,
    skip_invalid: bool,
    no_update: bool,
    answers: bool,
    model: str | None,
    folder_of_report: Path | None,
    targets: tuple[str, ...],
    as_json: bool,
) -> int:
    """Measure retrieval and refusals on QUESTIONS (JSONL or TOML; see docs/evaluation.md).

    No model is asked, except with --answers.

    Without QUESTIONS: those that were collected while the folder was used.
    Exit 1: a metric misses its --fail-under target ("lost" and "bluffs" are upper bounds).
    """
    wanted = [target_of(text) for text in targets]
    plan = _Plan(
        settings_of(assignments),
        cuttings_named([name for name in strategies.split(",") if name]),
        embedders,
        cross_encoder,
        limit,
        skip_invalid=skip_invalid,
        update=not no_update,
        answers=answers,
        model=model,
        filters=filters,
    )
    if filters and (sets or answers or leaning):
        raise UsageError("filters go with question files alone", hint="ragchat eval QUESTIONS --in house/")
    if leaning:
        return _list_leaning(plan, folder)
    if files and sets:
        raise UsageError("either question files or --sets, not both", hint=_HINT)
    with interruptible() as stopped:
        if sets is None:
            reports = [_of_folder(plan, folder, files, stopped)]
        else:
            reports = _of_suite(plan, find_suite(sets), stopped)
    if stopped.is_set():
        note("interrupted: what was asked is kept, and the next run goes on from there")
        return INTERRUPTED
    _print(reports, as_json=as_json, suite=sets is not None)
    if folder_of_report is not None:
        from ragchat.evaluation.markdown_report import write_report

        note(f"report: {escape_line(str(write_report(reports, folder_of_report)))}")
    return BELOW_TARGET if misses(reports, wanted) else 0


@dataclass(frozen=True, slots=True)
class _Plan:
    settings: Settings
    cuttings: Sequence[Cutting]
    embedders: Sequence[str]
    cross_encoder: str
    limit: int
    skip_invalid: bool
    update: bool
    answers: bool
    model: str | None
    filters: Filters


def _list_leaning(plan: _Plan, folder: Path | None) -> int:
    """Passages whose beginning points at what stood before them, each where it stands."""
    workspace = open_workspace(folder, plan.settings)
    if plan.update:
        bring_up_to_date(workspace)
    chunks = all_chunks(workspace.index().snapshot())
    found = leaning_chunks(chunks)
    for chunk in found:
        words = textwrap.shorten(chunk.content, 80, placeholder=" …")
        say(escape_line(f"{chunk.document}#char={chunk.start},{chunk.end}  {words}"))
    note(f"{len(found):,} of {len(chunks):,} passages cannot stand alone")
    return 0


def _of_folder(
    plan: _Plan, folder: Path | None, files: Sequence[Path], stopped: threading.Event
) -> dict[str, Any]:
    """The report on these files, or on the questions collected in use.

    Of the collected ones those whose note was edited since are left out: nobody wrote that file by hand.
    """
    if files:
        return _one(plan, ", ".join(map(str, files)), folder, files, (), stopped)
    notes = chosen_folder(folder, plan.settings)
    collected = collected_path(notes)
    if not collected.exists():
        raise UsageError(
            f"no questions were collected in {notes} yet",
            hint="name a question file, or mark answers while you use the screen (F1 shows the keys)",
        )
    return _one(replace(plan, skip_invalid=True), "collected", notes, [collected], (), stopped)


def _of_suite(plan: _Plan, suite: Suite, stopped: threading.Event) -> list[dict[str, Any]]:
    """One report a set. Where questions may be left out, a set of which none is left is told and left out."""
    if suite.unasked:
        note(f"no questions, so not asked: {escape_line(', '.join(suite.unasked))}")
    reports: list[dict[str, Any]] = []
    for number, chosen in enumerate(suite.sets, start=1):
        if stopped.is_set():
            break
        note(f"set {number} of {len(suite.sets)}: {escape_line(chosen.name)}")
        try:
            reports.append(
                _one(plan, chosen.name, chosen.notes, (chosen.questions,), suite.strangers, stopped)
            )
        except UsageError as error:
            if not plan.skip_invalid:
                raise
            note(f"left out: {escape_line(chosen.name)}: {escape_line(error.message)}")
    if not reports and not stopped.is_set():
        raise UsageError("no set could be asked", hint=_HINT)
    return reports


def _one(
    plan: _Plan,
    name: str,
    folder: Path | None,
    files: Sequence[Path],
    strangers: Sequence[Path],
    stopped: threading.Event,
) -> dict[str, Any]:
    """The report of one folder; a partial one where it was stopped."""
    workspace = open_workspace(folder, plan.settings)
    if plan.update:
        bring_up_to_date(workspace)
    questions = _questions(plan, workspace, files, strangers)
    line = StagesLine()
    try:
        others = (plan.cuttings, plan.embedders, plan.cross_encoder)
        examined = study(workspace, questions, *others, filters=plan.filters, tell=line, cancel=stopped)
        if not examined or stopped.is_set():
            return {}
        report = report_json(name, examined, questions, datetime.now(UTC).astimezone())
        if plan.answers:
            report["answers"] = _answers(plan, workspace, questions, line, stopped)
    finally:
        line.finish()
    return report


def _answers(
    plan: _Plan, workspace: Workspace, questions: QuestionSet, line: StagesLine, stopped: threading.Event
) -> dict[str, Any]:
    """What the model did; asked in the folder's own strategy."""
    from ragchat.evaluation.answers import ask_for_answers

    judged = ask_for_answers(
        questions.questions,
        workspace.assistant(),
        workspace.embedder(),
        model=plan.model,
        on_progress=lambda done, total: line(f"answered {done:,} of {total:,} questions"),
        cancel=stopped,
    )
    return answers_json(judged, plan.model or workspace.model() or "whatever is installed")


def _questions(
    plan: _Plan, workspace: Workspace, files: Sequence[Path], strangers: Sequence[Path]
) -> QuestionSet:
    """The set, unless something in it is wrong and was not to be skipped."""
    index = workspace.index()
    spoken = in_the_notes_language(strangers, index.snapshot()) if strangers else []
    questions = load_folder_questions([*files, *spoken], workspace.folder, index, plan.settings)
    require_usable(questions, skip_invalid=plan.skip_invalid)
    if plan.filters:
        scope = narrow(plan.filters, index.snapshot().sources()).scope
        kept = of_notes(questions.questions, scope.admits)
        left_out = len(questions.questions) - len(kept)
        verb = "is" if left_out == 1 else "are"
        note(f"{counted(left_out, 'question')} {verb} left out: answered in other notes")
        questions = replace(questions, questions=kept)
    if not questions.questions:
        raise UsageError("no question is left to ask", hint=_HINT)
    return replace(questions, questions=thinned(questions.questions, plan.limit))


def require_usable(questions: QuestionSet, *, skip_invalid: bool) -> None:
    """Name each question that cannot be used. Raises UsageError unless they may be left out."""
    _report_problems(questions.problems, "left out" if skip_invalid else "ragchat")
    if questions.problems and not skip_invalid:
        raise UsageError(
            f"{counted(len(questions.problems), 'question')} cannot be used",
            hint="mend the file, or leave them out: --skip-invalid",
        )


def _report_problems(problems: Sequence[Problem], what: str) -> None:
    """Each record that cannot be used, up to a screenful, on stderr."""
    for problem in problems[:_PROBLEMS_SHOWN]:
        note(f"{what}: {escape_line(str(problem))}")
    if len(problems) > _PROBLEMS_SHOWN:
        note(f"… and {len(problems) - _PROBLEMS_SHOWN:,} more")


def _print(reports: Sequence[Mapping[str, Any]], *, as_json: bool, suite: bool) -> None:
    if as_json:
        say_json({"sets": reports} if suite else reports[0])
        return
    for report in reports:
        print_report(report)
        say()
    if suite:
        print_suite(reports)
    note(reports[0]["caveat"])
