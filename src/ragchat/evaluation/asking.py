"""Ask every question of one index, once: the outcomes are kept until anything that made them changes."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib import resources
from pathlib import Path
from typing import Any

import ragchat
from ragchat.evaluation.outcome import Outcome, Ranks, observe
from ragchat.evaluation.questions import Question
from ragchat.paths import cache_dir, make_private_dir
from ragchat.retrieval.trace import RetrievalTrace

Retrieve = Callable[[str], RetrievalTrace]
AskingListener = Callable[[int, int], None]
"""Told how many of how many questions were asked."""

_MAKERS = ("chunking", "documents", "embedding", "index", "retrieval")


def ask_all(
    questions: Sequence[Question],
    retrieve: Retrieve,
    *,
    made_by: Mapping[str, object],
    on_progress: AskingListener | None = None,
    cancel: threading.Event | None = None,
) -> list[tuple[Question, Outcome]]:
    """The outcome of every question, in order; fewer after a cancel.

    made_by: everything beside ragchat's own code that the traces depend on; with the same, kept outcomes are
    taken instead of asking again. What was asked before a cancel or an error is kept too.
    """
    path = cache_dir() / "evaluation" / "outcomes" / f"{_key(made_by)}.jsonl"
    known = _read(path)
    missing = [question for question in questions if _digest(question) not in known]
    fresh: dict[str, Outcome] = {}
    try:
        for number, question in enumerate(missing):
            if cancel is not None and cancel.is_set():
                break
            if on_progress is not None:
                on_progress(len(questions) - len(missing) + number, len(questions))
            fresh[_digest(question)] = observe(question, retrieve(question.text))
    finally:
        if fresh:
            known |= fresh
            _write(path, known)
    return [(question, known[_digest(question)]) for question in questions if _digest(question) in known]


@cache
def code_digest() -> str:
    """A digest of the code that makes traces and outcomes: other code may give other ones."""
    hashed = sha256()
    package = Path(str(resources.files(ragchat)))
    files = [path for room in _MAKERS for path in (package / room).rglob("*.py")]
    for path in sorted([*files, package / "evaluation" / "outcome.py"]):
        hashed.update(path.relative_to(package).as_posix().encode())
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


def _key(made_by: Mapping[str, object]) -> str:
    return sha256(json.dumps([code_digest(), made_by], sort_keys=True).encode()).hexdigest()[:32]


def _digest(question: Question) -> str:
    return sha256(json.dumps(asdict(question)).encode()).hexdigest()[:24]


def _read(path: Path) -> dict[str, Outcome]:
    """What was kept; a damaged file costs only the time to ask again."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return {key: _outcome(fields) for key, fields in map(json.loads, lines)}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _outcome(fields: dict[str, Any]) -> Outcome:
    ranks = {
        ranking: Ranks(**found | {name: tuple(found[name]) for name in ("characters", "tokens")})
        for ranking, found in fields["ranks"].items()
    }
    return Outcome(**fields | {"ranks": ranks})


def _write(path: Path, outcomes: Mapping[str, Outcome]) -> None:
    """Switched whole; a cache that cannot be written only costs time later."""
    try:
        make_private_dir(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            for key, outcome in outcomes.items():
                file.write(json.dumps([key, asdict(outcome)]) + "\n")
        Path(temporary).replace(path)
    except OSError:
        return
