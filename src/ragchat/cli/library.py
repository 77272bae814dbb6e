"""`index`, `status`, `forget`: what is known of a folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from ragchat.answering.escape import escape_line
from ragchat.answering.report import index_json, status_json
from ragchat.answering.status import FolderStatus, shared_library
from ragchat.answering.workspace import Workspace
from ragchat.cli.console import interruptible, note, say, say_json, styled
from ragchat.cli.opening import confirm_size, open_workspace
from ragchat.cli.options import folder_option, json_option, settings_of
from ragchat.cli.progress import IndexingLine
from ragchat.documents.document import FailedDocument
from ragchat.errors import SetupError, UsageError
from ragchat.index.contexts import Contexts
from ragchat.index.progress import IndexReport

FAILED, INTERRUPTED = 1, 130
_FEW = 5


@click.command()
@folder_option
@click.option("--rebuild", is_flag=True, help="Read and embed everything afresh.")
@click.option("--retry", is_flag=True, help="Read failed documents again.")
@click.option("--yes", is_flag=True, help="Index a huge folder, or have contexts written, without asking.")
@json_option
def index(
    folder: Path | None, assignments: tuple[str, ...], rebuild: bool, retry: bool, yes: bool, as_json: bool
) -> int:
    """Bring the index up to date. Exit 1: a document failed, or is still to be done."""
    workspace = open_workspace(folder, settings_of(assignments))
    if not yes:
        confirm_size(workspace)
        _confirm_forgetting(workspace)
    contexts = workspace.contexts()
    if contexts is not None:
        _agree(workspace, contexts, rebuild=rebuild, yes=yes)
    line = IndexingLine()
    try:
        with interruptible() as stopped:
            report = workspace.update(
                rebuild=rebuild, retry=retry, on_progress=line, cancel=stopped, contexts=contexts
            )
    finally:
        line.finish()
    if as_json:
        say_json(index_json(report))
    else:
        _print_report(report)
    if report.warning and report.warning != line.notice:
        note(f"note: {escape_line(report.warning)}")
    if stopped.is_set():
        note("interrupted: what was done is kept, the rest is pending")
        return INTERRUPTED
    return FAILED if report.failures or not report.complete else 0


@click.command()
@folder_option
@click.option("--failed", is_flag=True, help="Only the documents that failed, and why.")
@json_option
def status(folder: Path | None, assignments: tuple[str, ...], failed: bool, as_json: bool) -> int:
    """What is indexed, failed (why), skipped (why), stale; the stamp; the threshold and its origin."""
    told = open_workspace(folder, settings_of(assignments)).status()
    if as_json:
        say_json(status_json(told))
    elif failed:
        _print_failures(told.failures, told.gaps)
    else:
        _print_status(told)
    return 0


@click.command()
@folder_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(folder: Path | None, assignments: tuple[str, ...], yes: bool) -> int:
    """Delete the folder's index, conversation and collected questions; neither notes nor a shared library."""
    settings = settings_of(assignments)
    workspace = open_workspace(folder, settings)
    shown = escape_line(str(workspace.folder))
    if not workspace.is_known():
        note(f"nothing is kept of {shown} on this machine")
    elif not yes and not click.confirm(
        f"Delete the index, the conversation and the collected questions of {shown}?", err=True
    ):
        note("nothing was deleted")
        return 0
    else:
        workspace.forget()
        note(f"forgotten: {shown}; the notes themselves are untouched")
    if library := shared_library(settings):
        note(f"note: the shared library {escape_line(library)} was not touched: others use it too")
    return 0


def _agree(workspace: Workspace, contexts: Contexts, *, rebuild: bool, yes: bool) -> None:
    """What the model will be asked for, before it is. Raises SetupError unless the user agrees."""
    estimate = workspace.estimate_contexts(contexts, rebuild=rebuild)
    if estimate is None:
        return
    settings = workspace.settings
    told = (
        f"{escape_line(settings.chunking.context)} at {escape_line(settings.ollama.host)} is to write a "
        f"context for about {estimate.passages:,} passages: {estimate.prompt_tokens:,} tokens read, "
        f"{estimate.answer_tokens:,} written, {_duration(estimate.seconds)}, as the first few went"
    )
    if yes:
        note(told)
        return
    may_ask = sys.stdin.isatty() and sys.stderr.isatty()
    if not (may_ask and click.confirm(f"{told}. Go on?", default=False, err=True)):
        raise SetupError(f"{told}; nothing was indexed", hint=f"ragchat index --yes -f {workspace.folder}")


def _duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _confirm_forgetting(workspace: Workspace) -> None:
    """A library that others use is not emptied by indexing the wrong folder."""
    if not workspace.is_shared:
        return
    gone, known = workspace.would_forget()
    if known and (gone == known or gone > max(_FEW, known // 2)):
        raise UsageError(
            f"{workspace.folder} lacks {gone:,} of the library's {known:,} documents; nothing was changed",
            hint=f"the right folder? Then: ragchat index --yes -f {workspace.folder}",
        )


def _print_report(report: IndexReport) -> None:
    changes = {
        "new": report.added,
        "changed": report.updated,
        "moved": report.moved,
        "removed": report.removed,
        "unchanged": report.unchanged,
    }
    told = ", ".join(f"{count:,} {word}" for word, count in changes.items() if count) or "nothing found"
    say(f"{report.indexed:,} documents, {report.chunks:,} passages indexed ({told}; {report.seconds:.1f} s)")
    if report.pending:
        reason = f": {escape_line(report.embedding_error)}" if report.embedding_error else ""
        say(f"{report.pending:,} documents pending, taken up by the next run{reason}")
    if (costs := report.contexts) and costs.written + costs.kept + costs.without:
        without = f"; {costs.without:,} passages went without one" if costs.without else ""
        say(
            f"contexts: {costs.written:,} written in {_duration(costs.seconds)} ({costs.prompt_tokens:,} "
            f"tokens read, {costs.answer_tokens:,} written), {costs.kept:,} kept from before{without}"
        )
    if report.skipped:
        say(f"skipped: {_counted(report.skipped)}")
    _print_failures(report.failures, report.gaps)


def _print_status(told: FolderStatus) -> None:
    say(styled(escape_line(str(told.folder)), "1"))
    if told.library:
        say(f"  library     {escape_line(told.library)}")
    say(f"  documents   {told.indexed:,} indexed, {told.failed:,} failed, {told.stale:,} stale")
    say(f"  skipped     {_counted(told.skipped)}")
    say(f"  passages    {told.chunks:,}")
    if told.disk_bytes:
        say(f"  on disk     {told.disk_bytes / 1e6:,.1f} MB{_each(told)}")
    if told.stamp is None:
        say("  not indexed yet: ragchat index")
    else:
        embedder = told.stamp.embedder
        model = escape_line(embedder.model)
        say(f"  embedder    {model}, {embedder.dimensions} dimensions, {embedder.runtime}")
        say(f"  weights     {embedder.weights}")
        say(f"  chunker     {told.stamp.chunker}")
        say(f"  extractors  {', '.join(told.extractors) or 'none'}")
    if told.threshold is not None:
        detail = f": {told.threshold.detail}" if told.threshold.detail else ""
        say(f"  threshold   {told.threshold.value:.3f} ({told.threshold.origin}{detail})")
    _print_failures(told.failures, told.gaps)
    if told.notice:
        note(told.notice)
    if told.made_otherwise:
        note("made by another embedder or chunker than the settings ask for: ragchat index --rebuild")
    elif told.stale:
        by = "ragchat index" if told.library else "the next index, ask or search"
        note(f"stale documents are read again by {by}")


def _each(told: FolderStatus) -> str:
    return f", {told.disk_bytes / told.chunks / 1000:.0f} KB a passage" if told.chunks else ""


def _print_failures(failures: Sequence[FailedDocument], gaps: Mapping[str, Sequence[str]]) -> None:
    for failure in failures:
        hint = f" ({escape_line(failure.hint)})" if failure.hint else ""
        say(f"failed: {escape_line(failure.name)}: {escape_line(failure.reason)}{hint}")
    for name, missing in gaps.items():
        more = f"; {len(missing) - 1:,} more like it" if len(missing) > 1 else ""
        say(f"read in part: {escape_line(name)}: {escape_line(missing[0])}{more}")


def _counted(skipped: Mapping[str, int]) -> str:
    if not skipped:
        return "nothing"
    return ", ".join(f"{count:,} {escape_line(why)}" for why, count in sorted(skipped.items()))
