"""Questions collected while the notes are used: one key says "this is the answer" or "this must be refused".

They lie with the folder's index, one JSON object a line, in the form every question file has, so that
`ragchat eval` and `ragchat calibrate` read them and a person can edit them.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from filelock import FileLock

from ragchat.chunking.graphemes import has_visible
from ragchat.errors import StorageFailed, UsageError
from ragchat.paths import folder_data_dir, make_private_dir

COLLECTED_FILE = "questions.jsonl"
REFUSAL_KIND = "near miss, marked in use"
"""What a person asks of the notes and marks so is near them: it counts as a near miss."""

Marked = Literal["added", "span added", "span replaced", "replaced", "unchanged"]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many questions are collected."""

    answerable: int
    unanswerable: int


def collected_path(folder: Path) -> Path:
    """Where the collected questions of a notes folder lie; the file may not be there yet."""
    return folder_data_dir(folder) / COLLECTED_FILE


class Collection:
    """The collected questions of one notes folder. Safe to use from several threads and processes."""

    def __init__(self, folder: Path) -> None:
        self.path = collected_path(folder)
        self._undone: tuple[str, str | None] | None = None

    def mark_answer(self, question: str, document: str, start: int, end: int, evidence: str) -> Marked:
        """This range of the document answers the question; a second range is a further span of the answer.

        One that lies within a kept one, or around it, takes its place.
        evidence: the words of the range, document.text[start:end]. Space around them is left out.
        Raises UsageError for a range or a question without words, StorageFailed.
        """
        words = evidence.strip()
        if end - start != len(evidence) or not has_visible(words):
            raise UsageError("the range holds no words", hint="mark the words that answer")
        start += len(evidence) - len(evidence.lstrip())
        span = {"document": document, "evidence": words, "from": start, "to": start + len(words)}

        def marked(before: dict[str, Any] | None) -> tuple[dict[str, Any], Marked]:
            if before is None or not before.get("answerable", True):
                record = _new(question) | {"answerable": True} | span
                return record, "added" if before is None else "replaced"
            known = [before, *before.get("also", [])]
            if _span_of(span) in map(_span_of, known):
                return before, "unchanged"
            apart = [one for one in known if not _nested(one, span)]
            if len(apart) == len(known):
                return before | {"also": [*before.get("also", []), span]}, "span added"
            # The first span lies in the record itself, the others beside it.
            first, *also = [span, *apart] if _nested(before, span) else [*apart, span]
            kept = {name: value for name, value in before.items() if name != "also"}
            kept |= {name: first[name] for name in span if name in first}
            return kept | ({"also": also} if also else {}), "span replaced"

        return self._change(question, marked)

    def mark_refused(self, question: str) -> Marked:
        """The notes have no answer to this question. Raises UsageError without a word, StorageFailed."""

        def marked(before: dict[str, Any] | None) -> tuple[dict[str, Any], Marked]:
            if before is not None and not before.get("answerable", True):
                return before, "unchanged"
            record = _new(question) | {"answerable": False, "kind": REFUSAL_KIND}
            return record, "added" if before is None else "replaced"

        return self._change(question, marked)

    def unmark(self, question: str) -> bool:
        """Take the question out again; whether it was there. Raises StorageFailed."""
        with self._locked():
            lines = self._lines()
            kept = [line for line in lines if not _asks(line, question)]
            if len(kept) < len(lines):
                self._write(kept)
            return len(kept) < len(lines)

    def undo(self) -> bool:
        """Put the question marked last back as it was before; whether there was one. Raises StorageFailed.

        Once for each mark; what others have changed meanwhile stays.
        """
        if self._undone is None:
            return False
        question, before = self._undone
        with self._locked():
            lines = [line for line in self._lines() if not _asks(line, question)]
            self._write(lines if before is None else [*lines, before])
        self._undone = None
        return True

    def counts(self) -> Counts:
        """How many are collected; lines that are no question do not count. Raises StorageFailed."""
        records = [record for line in self._lines() if (record := _record(line)) is not None]
        refused = sum(record.get("answerable") is False for record in records)
        return Counts(len(records) - refused, refused)

    def _change(
        self, question: str, change: Callable[[dict[str, Any] | None], tuple[dict[str, Any], Marked]]
    ) -> Marked:
        if not has_visible(question):
            raise UsageError("there is no question to mark", hint="ask it first")
        with self._locked():
            lines = self._lines()
            place = next((at for at, line in enumerate(lines) if _asks(line, question)), None)
            before = None if place is None else lines[place]
            record, done = change(None if before is None else _record(before))
            line = json.dumps(record, ensure_ascii=False)
            if place is None:
                lines.append(line)
            else:
                lines[place] = line
            if done != "unchanged":
                self._write(lines)
                self._undone = question, before
        return done

    def _locked(self) -> FileLock:
        try:
            make_private_dir(self.path.parent)
        except OSError as error:
            raise _not_kept(self.path, error) from error
        return FileLock(self.path.with_suffix(".lock"))

    def _lines(self) -> list[str]:
        """Every line that holds anything, also what a person wrote and we cannot read."""
        try:
            text = self.path.read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            return []
        except OSError as error:
            raise _not_kept(self.path, error) from error
        return [line for line in text.split("\n") if line.strip()]

    def _write(self, lines: list[str]) -> None:
        try:
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, suffix=".part")
        except OSError as error:
            raise _not_kept(self.path, error) from error
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                file.writelines(f"{line}\n" for line in lines)
            Path(temporary).replace(self.path)
        except OSError as error:
            Path(temporary).unlink(missing_ok=True)
            raise _not_kept(self.path, error) from error


def _new(question: str) -> dict[str, Any]:
    now = datetime.now(UTC).astimezone()
    # Lone surrogates, as a terminal may pass them, are no text that a file could hold.
    readable = question.encode("utf-8", "replace").decode()
    return {
        "id": now.strftime("%Y%m%dT%H%M%S.%f"),
        "question": readable,
        "added": now.isoformat("T", "seconds"),
    }


def _record(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and isinstance(record.get("question"), str) else None


def _asks(line: str, question: str) -> bool:
    record = _record(line)
    return record is not None and _folded(record["question"]) == _folded(question)


def _folded(question: str) -> str:
    return " ".join(question.encode("utf-8", "replace").decode().split()).casefold()


def _span_of(fields: dict[str, Any]) -> tuple[object, ...]:
    return fields.get("document"), fields.get("from"), fields.get("to")


def _nested(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether one of two ranges of the same document lies within the other, which is ours."""
    start, end = one.get("from"), one.get("to")
    if one.get("document") != other["document"] or not (isinstance(start, int) and isinstance(end, int)):
        return False  # a person may have written words alone
    outer = min(start, other["from"]), max(end, other["to"])
    return outer in {(start, end), (other["from"], other["to"])}


def _not_kept(path: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"{path} cannot be kept: {error.strerror or error}",
        hint="make that folder writable, or set RAGCHAT_DATA_DIR to one that is",
    )
