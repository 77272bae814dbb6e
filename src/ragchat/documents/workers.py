"""A small pool of processes that read what could hang, crash or fill the memory.

A process is started when the first such file comes and reads many, so its start is paid once. One that takes
too long, dies or runs out of memory is ended, and only its file fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import ragchat
from ragchat.documents.document import Document, FailedDocument
from ragchat.documents.wire import unpacked
from ragchat.documents.worker import ALIVE, FRAME, NO_MEMORY, RESULT

_MOST_TIMES = 30
"""A reader that goes on page after page gets its time anew, but in all no more than so many times."""
_LARGEST_ANSWER = 2**29
_START = "import sys; sys.path.append({!r}); from ragchat.documents.worker import main; main()"


@dataclass(frozen=True, slots=True)
class Limits:
    """seconds: for a file, or a page where there are pages. memory_mb: address space of the process.

    languages, confidence: of pictures, as in `Reading`.
    """

    seconds: float = 60.0
    memory_mb: int = 1024
    languages: str = "eng"
    confidence: int = 60


class _NoAnswerError(Exception):
    """The process gave no document. reason, hint: for the user. again: it may have been the file before."""

    def __init__(self, reason: str, hint: str, *, again: bool) -> None:
        super().__init__(reason)
        self.reason, self.hint, self.again = reason, hint, again


class WorkerPool:
    """Reads files in processes of its own; may be used by several threads at once."""

    def __init__(self, limits: Limits, size: int = 2) -> None:
        self._limits = limits
        self._places = threading.BoundedSemaphore(size)
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()

    def parse(
        self, module: str, extractor: str, data: bytes, name: str, digest: str
    ) -> Document | FailedDocument:
        """What the module of this full name makes of the bytes."""
        with self._places:
            for attempt in (1, 2):
                worker = self._take(fresh=attempt == 2)
                was_fresh = worker.fresh
                try:
                    answer = worker.ask(module, extractor, data, name)
                except _NoAnswerError as error:
                    worker.end()
                    if not error.again or was_fresh:
                        return FailedDocument(name, error.reason, error.hint, digest, extractor)
                except BaseException:
                    worker.end()
                    raise
                else:
                    with self._lock:
                        self._idle.append(worker)
                    return _understood(answer, name, digest, extractor)
        raise AssertionError("the second attempt has a fresh process")

    def close(self) -> None:
        """End the processes that wait for work."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def _take(self, *, fresh: bool) -> _Worker:
        with self._lock:
            if self._idle and not fresh:
                return self._idle.pop()
        return _Worker(self._limits)


def _understood(answer: bytes, name: str, digest: str, extractor: str) -> Document | FailedDocument:
    try:
        return unpacked(answer, name, digest)
    except (ValueError, TypeError, KeyError):
        return FailedDocument(name, "its reader gave no sensible answer", _REPORT, digest, extractor)


_REPORT = "please report it, with the file if you can"
_REPAIR = "open it in its own program and save it again, or list it in .ragchatignore"


class _Worker:
    """One process, and a thread that takes its answers."""

    def __init__(self, limits: Limits) -> None:
        self.fresh = True
        self._limits = limits
        root = str(Path(ragchat.__file__).resolve().parent.parent)
        self._process = subprocess.Popen(
            # -P: a notes folder as the current one must not lend its own json.py to Python.
            [sys.executable, "-P", "-c", _START.format(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # A session of its own: an interrupt at the terminal is for us, and what it starts ends with it.
            start_new_session=os.name == "posix",
            env={**os.environ, "OMP_THREAD_LIMIT": "1"},
        )
        self._answers: queue.Queue[tuple[bytes, bytes]] = queue.Queue()
        self._listener = threading.Thread(target=self._listen, name="document reader", daemon=True)
        self._listener.start()

    def ask(self, module: str, extractor: str, data: bytes, name: str) -> bytes:
        """The packed result. Raises _NoAnswerError."""
        limits = self._limits
        job = {
            "module": module,
            "extractor": extractor,
            "name": name,
            "size": len(data),
            "languages": limits.languages,
            "confidence": limits.confidence,
            "memory_mb": limits.memory_mb,
            "cpu_seconds": int(limits.seconds * _MOST_TIMES) + 1,
        }
        self._send(json.dumps(job).encode("ascii") + b"\n", data)
        until = time.monotonic() + limits.seconds * _MOST_TIMES
        while True:
            try:
                wait = min(limits.seconds, max(0.0, until - time.monotonic()))
                kind, answer = self._answers.get(timeout=wait)
            except queue.Empty:
                raise self._too_slow() from None
            if kind == RESULT:
                self.fresh = False
                return answer
            if kind == NO_MEMORY:
                raise _NoAnswerError(
                    f"reading it needs more than {limits.memory_mb:,} MB of memory",
                    "raise notes.reader_memory_mb in the settings, or list it in .ragchatignore",
                    again=True,
                )
            if kind != ALIVE:
                raise self._died()

    def _send(self, *parts: bytes) -> None:
        assert self._process.stdin is not None
        # A process that is gone shows in its answers.
        with contextlib.suppress(OSError, ValueError):
            for part in parts:
                self._process.stdin.write(part)
            self._process.stdin.flush()

    def _too_slow(self) -> _NoAnswerError:
        return _NoAnswerError(
            f"its reader was stopped: {self._limits.seconds:g} seconds were not enough",
            "raise notes.reader_seconds in the settings, or list it in .ragchatignore",
            again=False,
        )

    def _died(self) -> _NoAnswerError:
        code = self._process.wait()
        if -code == getattr(signal, "SIGXCPU", 0):
            return self._too_slow()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return _NoAnswerError(
            f"its reader crashed on it ({how}): it is damaged, or needs more than"
            f" {self._limits.memory_mb:,} MB of memory",
            _REPAIR,
            again=True,
        )

    def end(self) -> None:
        """Stop the process with all that it started, and wait for it."""
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._listener.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        while (frame := _next_frame(self._process.stdout)) is not None:
            self._answers.put(frame)
        self._answers.put((b"", b""))


def _next_frame(pipe: IO[bytes]) -> tuple[bytes, bytes] | None:
    """Kind and content; None at the end of the pipe, also in the middle of a frame."""
    head = pipe.read(FRAME.size)
    if len(head) < FRAME.size:
        return None
    kind, length = FRAME.unpack(head)
    if length > _LARGEST_ANSWER:
        return None
    data = pipe.read(length)
    return (kind, data) if len(data) == length else None
