"""`calibrate`: the threshold from the user's own questions, or what the automatic one's promise is worth."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from ragchat.answering.escape import escape_line
from ragchat.answering.workspace import Workspace
from ragchat.cli.console import interruptible, note, say, say_json
from ragchat.cli.evaluation import require_usable
from ragchat.cli.opening import bring_up_to_date, open_workspace
from ragchat.cli.options import folder_option, json_option, settings_of
from ragchat.cli.progress import StatusLine
from ragchat.errors import UsageError
from ragchat.evaluation.calibration import DEFAULT_COST, Choice, Rates, choose, too_few
from ragchat.evaluation.collection import collected_path
from ragchat.evaluation.examination import load_folder_questions
from ragchat.evaluation.measures import Asked
from ragchat.evaluation.promise import check_promise
from ragchat.evaluation.study import study
from ragchat.evaluation.wording import counted, interval
from ragchat.retrieval.calibrated import Calibration, keep_calibration, kept_calibration
from ragchat.retrieval.threshold import current_threshold, fixed_threshold

NOT_SET, INTERRUPTED = 1, 130


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="QUESTIONS…")
@folder_option
@click.option(
    "--bluff-cost", default=DEFAULT_COST, show_default=True, metavar="N", help="A bluff costs N lost answers."
)
@click.option("--skip-invalid", is_flag=True, help="Leave out questions that cannot be used.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be set.")
@click.option("--reset", is_flag=True, help="Go back to the automatic threshold.")
@json_option
def calibrate(
    files: tuple[Path, ...],
    folder: Path | None,
    assignments: tuple[str, ...],
    bluff_cost: float,
    skip_invalid: bool,
    dry_run: bool,
    reset: bool,
    as_json: bool,
) -> int:
    """Choose the threshold from QUESTIONS, or from those collected in use. Asks no model.

    Without any question: whether the automatic threshold keeps its promise here.
    Exit 1: too few questions to set it, or the promise is not kept or cannot be checked.
    """
    if not (math.isfinite(bluff_cost) and bluff_cost > 0):
        raise UsageError(f"--bluff-cost {bluff_cost:g}: a cost is above 0", hint="--bluff-cost 2")
    settings = settings_of(assignments)
    if fixed := fixed_threshold(settings.retrieval):
        origin = settings.origins.get("retrieval.threshold", "the settings")
        raise UsageError(
            f"the threshold is fixed at {fixed.value:.3f} by {origin}, and holds as it stands",
            hint="ragchat config set retrieval.threshold auto",
        )
    workspace = open_workspace(folder, settings)
    bring_up_to_date(workspace)
    if reset:
        keep_calibration(workspace.index(), None)
        say(f"automatic again: {_threshold(workspace)}")
        return 0
    collected = collected_path(workspace.folder)
    if not files and not collected.exists():
        return _promise(workspace, as_json=as_json)
    # Of the collected ones those whose note was edited since are left out: nobody wrote that file by hand.
    asked = _asked(workspace, files or (collected,), skip_invalid=skip_invalid or not files)
    if asked is None:
        note("interrupted: what was asked is kept")
        return INTERRUPTED
    if reason := too_few(asked):
        return _not_set(reason, as_json=as_json)
    choice = choose(asked, bluff_cost)
    if not dry_run:
        _keep(workspace, choice)
    _print(choice, workspace, kept=not dry_run, as_json=as_json)
    return 0


def _asked(workspace: Workspace, files: tuple[Path, ...], *, skip_invalid: bool) -> Asked | None:
    """The outcomes under the threshold as it is; None where it was stopped."""
    questions = load_folder_questions(files, workspace.folder, workspace.index(), workspace.settings)
    require_usable(questions, skip_invalid=skip_invalid)
    line = StatusLine()
    with interruptible() as stopped:
        try:
            examined = study(workspace, questions, tell=line.show, cancel=stopped)
        finally:
            line.clear()
    return None if stopped.is_set() or not examined else examined[0].asked


def _keep(workspace: Workspace, choice: Choice) -> None:
    """On top of what was chosen before: the questions were asked under that."""
    index = workspace.index()
    before = kept_calibration(index)
    shift = (before.shift if before else 0.0) + choice.shift
    detail = (
        f"{choice.answerable + choice.unanswerable} questions: {100 * choice.then.lost.value:.0f} % lost, "
        f"{100 * choice.then.bluffs.value:.0f} % bluffed; a bluff costs {choice.bluff_cost:g} lost answers"
    )
    keep_calibration(index, Calibration(shift, detail))


def _not_set(reason: str, *, as_json: bool) -> int:
    if as_json:
        say_json({"set": False, "reason": reason})
    else:
        say(f"not set: {reason}")
    return NOT_SET


def _print(choice: Choice, workspace: Workspace, *, kept: bool, as_json: bool) -> None:
    if as_json:
        say_json({"set": kept, "threshold": _threshold_json(workspace)} | asdict(choice))
        return
    answers = f"{counted(choice.answerable, 'question')} that the notes answer"
    cost = f"a bluff costs {choice.bluff_cost:g} lost answers"
    say(f"{answers}, {choice.unanswerable} that must be refused; {cost}")
    between = f"95 % between {choice.low:+.3f} and {choice.high:+.3f}"
    say(f"  the threshold moves by {choice.shift:+.3f} ({between})")
    for name, told in (("as it was", choice.now), ("moved", choice.then)):
        say(f"  {name}: {_rates(told)}")
    if choice.low <= 0 <= choice.high:
        note("these questions cannot tell it from the threshold as it was: collect more of them")
    say(f"{'set' if kept else 'not set (--dry-run)'}: {_threshold(workspace)}")


def _promise(workspace: Workspace, *, as_json: bool) -> int:
    line = StatusLine()
    try:
        promise = check_promise(
            workspace.index().snapshot(),
            workspace.embedder(),
            workspace.settings.retrieval,
            lambda done, total: line.show(f"asked {done:,} of {total:,} off-topic questions"),
        )
    finally:
        line.clear()
    code = 0 if promise is not None and not promise.broken else NOT_SET
    if as_json:
        passing = None if promise is None else asdict(promise.passing)
        say_json({"set": False, "threshold": _threshold_json(workspace), "off_topic_passing": passing})
        return code
    say(_threshold(workspace))
    if promise is None:
        say("the folder is too small, or too much like the off-topic questions, to check it")
    else:
        kept = "more than promised" if promise.broken else "as promised"
        say(f"of the off-topic questions left out {interval(asdict(promise.passing))} pass: {kept} (0.05)")
    note("no questions are collected yet: mark answers while you use the screen, or name a question file")
    return code


def _rates(told: Rates) -> str:
    lost, bluffs = interval(asdict(told.lost)), interval(asdict(told.bluffs))
    return f"{lost} of the answers lost, {bluffs} bluffed"


def _threshold(workspace: Workspace) -> str:
    threshold = current_threshold(workspace.index(), workspace.settings.retrieval)
    if threshold is None:
        return "no threshold yet"
    return escape_line(f"threshold {threshold.value:.3f} ({threshold.origin}): {threshold.detail}")


def _threshold_json(workspace: Workspace) -> dict[str, Any] | None:
    threshold = current_threshold(workspace.index(), workspace.settings.retrieval)
    if threshold is None:
        return None
    return {"value": threshold.value, "origin": threshold.origin, "detail": threshold.detail}
