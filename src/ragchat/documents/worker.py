"""The process that reads what a parser could choke on: one file after another, under limits.

A request is a line of JSON (what to read, how) and the bytes of the file; an answer is a kind, a length and
that many bytes. Whatever happens here, the process that asked only sees an answer or the end of the pipe.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import struct
import sys
from typing import Any, BinaryIO, cast

from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.reading import RESAVE, IsolatedParser, Reading, UnreadableError
from ragchat.documents.wire import packed

ALIVE, RESULT, NO_MEMORY = b"a", b"r", b"m"
FRAME = struct.Struct(">cQ")


def main() -> None:
    """Serve requests until the pipe is closed."""
    requests, answers = sys.stdin.buffer, _private_output()
    while line := requests.readline():
        job = json.loads(line)
        data = requests.read(job["size"])
        if len(data) < job["size"]:
            return
        _limit(job["memory_mb"], job["cpu_seconds"])
        _serve(job, data, answers)


def _private_output() -> BinaryIO:
    """The pipe for answers; what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    with contextlib.suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.close(nowhere)
    return answers


def _serve(job: dict[str, Any], data: bytes, answers: BinaryIO) -> None:
    reading = Reading(
        languages=job["languages"],
        confidence=job["confidence"],
        progressed=lambda: _answer(answers, ALIVE, b""),
    )
    try:
        parse = cast(IsolatedParser, importlib.import_module(job["module"]).parse)
        result = packed(_guarded(parse, job, data, reading))
    except MemoryError:
        _answer(answers, NO_MEMORY, b"")
        sys.exit(1)  # what is left of this process is of no use
    _answer(answers, RESULT, result)


def _guarded(
    parse: IsolatedParser, job: dict[str, Any], data: bytes, reading: Reading
) -> Document | FailedDocument:
    try:
        return parse(data, job["name"], "", reading)
    except MemoryError:
        raise
    except UnreadableError as error:
        return FailedDocument(job["name"], error.reason, error.hint, "", job["extractor"])
    except RecursionError:
        return FailedDocument(job["name"], "it is nested too deep to be read", RESAVE, "", job["extractor"])
    except Exception as error:  # whatever a library does on a broken file
        about = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        reason = f"it is damaged, or of a kind its reader does not know ({about})"
        return FailedDocument(job["name"], reason, RESAVE, "", job["extractor"])


def _answer(answers: BinaryIO, kind: bytes, data: bytes) -> None:
    answers.write(FRAME.pack(kind, len(data)))
    answers.write(data)
    answers.flush()


def _limit(memory_mb: int, cpu_seconds: int) -> None:
    """The system's own limits, where it has them: they hold also for what a reader starts, and for a reader
    whose user has gone."""
    try:
        import resource
    except ImportError:  # Windows: the time is watched by who asked
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, resource.RLIM_INFINITY))
    used = resource.getrusage(resource.RUSAGE_SELF)
    with contextlib.suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        until = int(used.ru_utime + used.ru_stime) + cpu_seconds
        resource.setrlimit(resource.RLIMIT_CPU, (until, hard))
