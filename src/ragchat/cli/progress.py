"""Progress, on stderr: one line that is written over on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from ragchat.answering.escape import escape_line
from ragchat.cli.console import note
from ragchat.index.progress import IndexProgress

if TYPE_CHECKING:
    from ragchat.answering.events import Waiting
    from ragchat.embedding.ollama_pull import PullProgress


class StatusLine:
    """The one line at the bottom; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self.live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._shown = False

    def show(self, text: str) -> None:
        """Put this text in the line."""
        if self.live:
            sys.stderr.write(f"\r\x1b[2K{escape_line(text)}")
            sys.stderr.flush()
            self._shown = True

    def clear(self) -> None:
        """Leave nothing behind for what follows."""
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._shown = False


class StagesLine:
    """Tells of a long piece of work; elsewhere than on a terminal each stage once, without its counters."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._told = ""

    def __call__(self, text: str) -> None:
        """Show how far it is."""
        if self._line.live:
            self._line.show(text)
        elif (stage := re.sub(r"[\d,]+ of [\d,]+ ", "", text)) != self._told:
            self._told = stage
            note(escape_line(stage))

    def finish(self) -> None:
        """Leave nothing behind for what follows."""
        self._line.clear()


class IndexingLine:
    """Tells of an indexing run."""

    def __init__(self) -> None:
        self.notice = ""
        self._line = StatusLine()
        self._told = ""

    def __call__(self, progress: IndexProgress) -> None:
        """Show how far it is, and what is to be told at once."""
        if progress.notice and not self.notice:
            self.notice = progress.notice
            self._line.clear()
            note(f"note: {escape_line(self.notice)}")
        if self._line.live:
            self._line.show(_described(progress))
        elif (kind := _worth_a_line(progress)) and kind != self._told:
            self._told = kind
            note(escape_line(_described(progress)))

    def finish(self) -> None:
        """Clean up before anything else is printed."""
        self._line.clear()


class PullLine:
    """Tells of a download."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._line = StatusLine()
        self._told = ""

    def __call__(self, progress: PullProgress) -> None:
        """Show how far it is; elsewhere than on a terminal each stage once."""
        text = f"pulling {self._model}: {progress.status}"
        if progress.total:
            share = progress.completed / progress.total
            text = f"pulling {self._model}: {share:4.0%} of {progress.total / 1e9:,.1f} GB {_bar(share)}"
        if self._line.live:
            self._line.show(text)
        elif (stage := re.sub(r"[0-9a-f]{12,}", "…", progress.status)) != self._told:
            self._told = stage
            note(escape_line(f"pulling {self._model}: {stage}"))

    def finish(self) -> None:
        """Clean up before anything else is printed."""
        self._line.clear()


def _bar(share: float, width: int = 24) -> str:
    done = round(max(0.0, min(1.0, share)) * width)
    return "█" * done + "░" * (width - done)


def waiting_for(event: Waiting) -> str:
    """What a person reads while the server loads a model."""
    return f"loading {event.model} … {event.seconds:.0f} s"


def _worth_a_line(progress: IndexProgress) -> str:
    """Only what takes long, and each once: a script's log is no place for counters."""
    if progress.phase == "loading model":
        return _waited_for(progress)
    return "indexing" if progress.phase == "indexing" else ""


def _waited_for(progress: IndexProgress) -> str:
    """What opening the model takes; once documents are counted, `current` is one of them instead."""
    return "" if progress.documents_total else progress.current


def _described(progress: IndexProgress) -> str:
    if progress.phase == "loading model":
        return _waited_for(progress) or "loading the embedding model …"
    if progress.phase == "calibrating":
        return "measuring the threshold on this folder …"
    if progress.phase == "reading":
        return f"reading: {progress.documents_read:,} of {progress.documents_total:,} documents"
    if progress.phase != "indexing":
        return f"{progress.phase} …"
    failed = f", {progress.failed} failed" if progress.failed else ""
    contexts = f", {progress.contexts:,} contexts written" if progress.contexts else ""
    return (
        f"indexing: {progress.documents_done:,} of {progress.documents_total:,} documents, "
        f"{progress.chunks_embedded:,} passages embedded{contexts}{failed}"
    )
