"""`doctor`: each thing ragchat needs, whether it is there, and the remedy."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import click

from ragchat import paths
from ragchat.answering.escape import escape_line
from ragchat.answering.status import FolderStatus
from ragchat.answering.workspace import Workspace
from ragchat.cli.checks import Check, State, model_checks
from ragchat.cli.console import say, say_json
from ragchat.cli.opening import open_workspace
from ragchat.cli.options import folder_option, json_option, usable_settings_of
from ragchat.cli.progress import StatusLine
from ragchat.errors import RagchatError, SetupError, UsageError
from ragchat.settings import Settings

_MARKS: dict[State, str] = {"ok": "ok    ", "note": "note  ", "broken": "BROKEN"}


@click.command()
@folder_option
@json_option
def doctor(folder: Path | None, assignments: tuple[str, ...], as_json: bool) -> int:
    """Check settings, folders, embedding model, index, model server, terminal. Exit 3: one is broken."""
    settings, problems = usable_settings_of(assignments)
    workspace = open_workspace(folder, settings)
    line, found = StatusLine(), []
    line.show("checking …")
    for check in (*_settings(settings, problems), *_checks(workspace)):
        line.clear()
        found.append(check)
        if not as_json:
            _print(check)
        line.show("checking …")
    line.clear()
    if as_json:
        say_json(
            [
                {"check": check.name, "state": check.state, "finding": check.finding, "remedy": check.remedy}
                for check in found
            ]
        )
    return SetupError.exit_code if any(check.state == "broken" for check in found) else 0


def _print(check: Check) -> None:
    say(f"{_MARKS[check.state]}  {check.name:16} {escape_line(check.finding)}")
    if check.remedy:
        say(f"{'':24} try: {escape_line(check.remedy)}")


def _settings(settings: Settings, problems: tuple[UsageError, ...]) -> Iterator[Check]:
    from ragchat.tui.keymap import read_keymap

    for problem in problems:
        yield Check("settings", "broken", f"{problem.message}; the default holds here", problem.hint)
    if not problems:
        yield Check("settings", "ok", f"{len(settings.origins)} set, the rest as they come")
    for line in read_keymap(settings.keys).problems:
        yield Check("keys", "note", line, "ragchat config keys")


def _checks(workspace: Workspace) -> Iterator[Check]:
    yield _writable("data folder", paths.data_dir(), "RAGCHAT_DATA_DIR")
    yield _writable("cache folder", paths.cache_dir(), "RAGCHAT_CACHE_DIR")
    yield _bundled()
    yield _embedder(workspace)
    yield from _index(workspace)
    if workspace.is_shared:
        yield _library(workspace)
    yield _scanned_pages(workspace.settings.notes.ocr_languages)
    yield from model_checks(workspace)
    yield _terminal()


def _writable(name: str, folder: Path, variable: str) -> Check:
    try:
        with tempfile.TemporaryFile(dir=paths.make_private_dir(folder)):
            pass
    except OSError as error:
        return Check(name, "broken", f"{folder}: {error.strerror}", f"make it writable, or set {variable}")
    return Check(name, "ok", str(folder))


def _bundled() -> Check:
    missing = [
        str(path)
        for path in (paths.bundled_themes_dir(), paths.sample_notes_dir(), paths.off_topic_questions_path())
        if not path.exists()
    ]
    if missing:
        return Check("bundled files", "broken", f"missing: {', '.join(missing)}", "install ragchat-tui again")
    return Check("bundled files", "ok", "themes, sample notes, off-topic questions")


def _embedder(workspace: Workspace) -> Check:
    started = time.perf_counter()
    try:
        embedder = workspace.embedder()
        embedder.embed_question("is anybody there?")
    except RagchatError as error:
        return Check("embedding model", "broken", error.message, error.hint)
    stamp, seconds = embedder.stamp, time.perf_counter() - started
    return Check(
        "embedding model",
        "ok",
        f"{stamp.model}, {stamp.dimensions} dimensions, {stamp.runtime}, ready in {seconds:.1f} s",
    )


def _scanned_pages(languages: str) -> Check:
    from ragchat.documents.ocr import INSTALL, installed_languages

    if not languages:
        return Check("scanned pages", "note", "not read", "set notes.ocr_languages to eng, or eng+deu")
    there = installed_languages()
    if there is None:
        return Check("scanned pages", "note", "not read: Tesseract is not installed", INSTALL)
    missing = [language for language in languages.split("+") if language not in there]
    if missing:
        remedy = f"apt-get install {' '.join(f'tesseract-ocr-{language}' for language in missing)}"
        return Check("scanned pages", "note", f"Tesseract lacks {', '.join(missing)}", remedy)
    return Check("scanned pages", "ok", f"read by Tesseract, languages {languages}")


def _index(workspace: Workspace) -> Iterator[Check]:
    try:
        told = workspace.status()
    except RagchatError as error:
        yield Check("notes", "broken", error.message, error.hint)
        return
    yield _notes(told, f"ragchat index -f {workspace.folder}")
    if told.notice:
        yield Check("language", "note", told.notice)


def _notes(told: FolderStatus, refresh: str) -> Check:
    if told.stamp is None:
        return Check("notes", "note", f"{told.folder} is not indexed yet", refresh)
    finding = f"{told.folder}: {told.indexed:,} indexed, {told.failed:,} failed, {told.stale:,} stale"
    if told.failed:
        return Check("notes", "note", finding, "ragchat status --failed")
    return Check("notes", "note" if told.stale else "ok", finding, refresh if told.stale else "")


def _library(workspace: Workspace) -> Check:
    try:
        server, library = workspace.describe_library(), workspace.status().library
    except RagchatError as error:
        return Check("shared library", "broken", error.message, error.hint)
    return Check("shared library", "ok", f"{library}: {server}")


def _terminal() -> Check:
    encoding, term = (sys.stdout.encoding or "").lower(), os.environ.get("TERM", "")
    if "utf" not in encoding:
        remedy = "set LC_ALL to a UTF-8 locale, as in C.UTF-8"
        return Check(
            "terminal", "note", f"{encoding or 'unknown'}: other scripts are written as codes", remedy
        )
    if term in ("", "dumb"):
        return Check("terminal", "note", f"TERM={term or 'unset'}: no screen here", "use a terminal emulator")
    return Check("terminal", "ok", f"{term}, {encoding}")
