"""`search` and `ask`: questions, with everything they were judged by."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragchat.answering.escape import escape_line
from ragchat.answering.filtered import retrieve_filtered
from ragchat.answering.report import answer_json, search_json
from ragchat.answering.workspace import Workspace
from ragchat.cli.console import complain, interruptible, note, readable, say, say_json
from ragchat.cli.evidence import (
    escaped_lines,
    print_changed_sources,
    print_coverage,
    print_refusal_notes,
    print_search,
    print_sources,
)
from ragchat.cli.filtering import filter_options
from ragchat.cli.opening import bring_up_to_date, open_workspace
from ragchat.cli.options import folder_option, json_option, settings_of
from ragchat.cli.progress import StatusLine, waiting_for
from ragchat.errors import BackendError, StorageFailed, UsageError
from ragchat.retrieval.filters import Filters

if TYPE_CHECKING:
    from ragchat.answering.assistant import Assistant
    from ragchat.answering.events import Answer, Support

NO_ANSWER, INTERRUPTED = 1, 130

update_option = click.option("--no-update", is_flag=True, help="Search the index as it is.")
threshold_option = click.option("--threshold", help="The largest cosine distance that counts, or auto.")


@click.command()
@click.argument("query")
@folder_option
@filter_options
@threshold_option
@update_option
@json_option
def search(
    query: str,
    folder: Path | None,
    assignments: tuple[str, ...],
    filters: Filters,
    threshold: str | None,
    no_update: bool,
    as_json: bool,
) -> int:
    """Find passages for QUERY; no model is asked. Exit 1: none is near enough.

    `-` reads one question a line from standard input, prints the results in order and exits 0.
    """
    if query != "-":
        query = _question(query)
    workspace = _open(folder, assignments, threshold, no_update=no_update)
    if query == "-":
        for question in _lines():
            _search_one(workspace, question, filters, as_json=as_json)
        return 0
    return NO_ANSWER if _search_one(workspace, query, filters, as_json=as_json) else 0


@click.command()
@click.argument("question")
@folder_option
@filter_options
@threshold_option
@update_option
@click.option("--model", help="The model to ask; must be installed.")
@click.option("--follow-up", is_flag=True, help="Search together with the question that was asked before.")
@json_option
def ask(
    question: str,
    folder: Path | None,
    assignments: tuple[str, ...],
    filters: Filters,
    threshold: str | None,
    no_update: bool,
    model: str | None,
    follow_up: bool,
    as_json: bool,
) -> int:
    """Answer QUESTION from the notes; `-` reads it from standard input. Exit 1: the notes have no answer.

    What is asked without --json is kept in the folder's conversation.
    """
    from ragchat.answering.support import check_support

    question = _question(sys.stdin.read() if question == "-" else question)
    workspace = _open(folder, assignments, threshold, no_update=no_update)
    follows = _before(workspace) if follow_up else ""
    answer = stream_answer(
        workspace.assistant(), question, filters, model, shown=not as_json, follows=follows
    )
    supports = check_support(answer, workspace.embedder()) if answer.text else ()
    if as_json:
        say_json(answer_json(answer) | {"support": [asdict(support) for support in supports]})
    else:
        print_evidence(answer, workspace.folder)
        print_changed_sources(answer, workspace)
        print_notes(answer)
        print_support(answer, supports)
        _keep(workspace, answer, supports)
    return _exit_code(answer)


def stream_answer(
    assistant: Assistant,
    question: str,
    filters: Filters,
    model: str | None,
    *,
    shown: bool,
    follows: str = "",
) -> Answer:
    """Ask, and print the answer's own words. Ctrl-C stops it and keeps what has arrived.

    A terminal sees them as they come. A pipe gets them whole: what a model wrote may turn out to have been
    its reasoning, and what is in a pipe cannot be taken back.
    """
    from ragchat.answering.events import AnswerText, Finished, Waiting

    streaming = shown and sys.stdout.isatty()
    line, written = StatusLine(), False
    with interruptible() as stopped:
        for event in assistant.ask(question, filters=filters, model=model, cancel=stopped, follows=follows):
            if isinstance(event, Waiting):
                line.show(waiting_for(event))
                continue
            line.clear()
            if isinstance(event, AnswerText) and streaming:
                if event.restarts and written:
                    say("\n")
                    note("(that was the model's reasoning; its answer begins here)")
                say(event.text, end="")
                written = True
            if isinstance(event, Finished):
                if shown and event.answer.text:
                    say("" if streaming else "\n".join(escaped_lines(event.answer.text)))
                return event.answer
    raise AssertionError("a question ended without its last event")


def print_evidence(answer: Answer, folder: Path) -> None:
    """What belongs under the answer's words: its sources, or why there is none."""
    if answer.outcome == "refused":
        say(answer.message or "")
        print_refusal_notes(answer.trace, folder)
    elif answer.abstained:
        note("the model found no answer in the sources, so they are not listed as evidence")
    elif answer.text:
        say()
        print_sources(answer, folder)


def print_notes(answer: Answer) -> None:
    """What else the reader must know of it."""
    from ragchat.answering.receipt import receipt_line

    if answer.outcome != "failed":
        print_coverage(answer.trace)
    if answer.answered_by == "quotation":
        note("quoted word for word from the notes; no model was asked")
    if answer.invalid_citations:
        numbers = ", ".join(f"[{number}]" for number in answer.invalid_citations)
        note(f"the model cited {numbers}: there is no such source")
    if receipt := receipt_line(answer):
        note(receipt)
    if answer.notice:
        note(f"note: {escape_line(answer.notice)}")
    if answer.hint and answer.outcome == "refused":
        note(f"  hint: {escape_line(answer.hint)}")
    if answer.outcome == "stopped":
        note("stopped: the answer is not whole")


def print_support(answer: Answer, supports: Sequence[Support]) -> None:
    """Sentences whose words do not stand in the source they cite: to be looked at, not proved wrong."""
    for support in supports:
        if support.found is False and answer.text:
            words = escape_line(" ".join(answer.text[support.start : support.end].split()))
            note(f"not found in the source it cites: {textwrap.shorten(words, 120, placeholder=' …')}")


def _before(workspace: Workspace) -> str:
    """The question to follow. Raises UsageError where none was asked."""
    turns = [turn for turn in workspace.conversation().turns() if turn.was_asked]
    if not turns:
        raise UsageError("nothing was asked before", hint="leave out --follow-up")
    from ragchat.answering.filter_words import followed

    last = turns[-1]
    before = followed(last.follows, last.question) if last.follows else last.question
    note(f"searched together with: {escape_line(before)}")
    return before


def _open(
    folder: Path | None, assignments: tuple[str, ...], threshold: str | None, *, no_update: bool
) -> Workspace:
    """The folder's workspace with its index up to date."""
    workspace = open_workspace(folder, settings_of(assignments, retrieval__threshold=threshold))
    if not no_update:
        bring_up_to_date(workspace)
    return workspace


def _question(text: str) -> str:
    question = readable(text).strip()
    if not question:
        raise UsageError("the question is empty", hint='ragchat ask "when does the lease end?"')
    return question


def _lines() -> Iterator[str]:
    """Questions from standard input; blank lines are none."""
    for line in sys.stdin:
        if line.strip():
            yield line.strip()


def _search_one(workspace: Workspace, question: str, filters: Filters, *, as_json: bool) -> bool:
    """Print one search; whether it was refused."""
    trace = retrieve_filtered(workspace.retriever(), question, filters)
    if as_json:
        say_json(search_json(trace))
    else:
        print_search(trace, workspace.folder)
    return trace.refused


def _keep(workspace: Workspace, answer: Answer, supports: Sequence[Support]) -> None:
    """In the conversation; an answer that is on the screen is no failure because it could not be kept."""
    try:
        workspace.conversation().keep(answer, supports)
    except StorageFailed as error:
        note(f"note: {escape_line(error.message)}")


def _exit_code(answer: Answer) -> int:
    if answer.outcome == "failed":
        complain(BackendError(answer.error, hint=answer.hint))
        return BackendError.exit_code
    if answer.outcome == "stopped":
        return INTERRUPTED
    return NO_ANSWER if answer.outcome == "refused" or answer.abstained else 0
