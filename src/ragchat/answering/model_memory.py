"""What was learned about a model by using it, kept by the digest of its weights: a tag's contents can change.

A file in the cache folder. Losing it costs a little accuracy and nothing else, so a file that cannot be read
or written is no error.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

_MOST_MODELS = 200


@dataclass(frozen=True, slots=True)
class ModelNotes:
    """tokens_ratio: the largest (counted / estimated) tokens of any prompt, 0.0 while unknown.

    thinking_off: whether the model answers without reasoning when it is told to; None while nobody tried.
    """

    tokens_ratio: float = 0.0
    thinking_off: bool | None = None


class ModelMemory:
    """Safe to call from several threads. path: None keeps it in this process only."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._notes: dict[str, ModelNotes] | None = None

    def notes(self, digest: str) -> ModelNotes:
        """What is known of a model; nothing of one without a digest."""
        with self._lock:
            return self._loaded().get(digest, ModelNotes()) if digest else ModelNotes()

    def note_tokens(self, digest: str, *, counted: int, estimated: int) -> None:
        """A whole prompt was counted by the server."""
        if estimated > 0 and (ratio := counted / estimated) > self.notes(digest).tokens_ratio:
            self._note(digest, tokens_ratio=ratio)

    def note_thinking_off(self, digest: str, *, works: bool) -> None:
        """A probe told the model not to reason."""
        self._note(digest, thinking_off=works)

    def _note(self, digest: str, **learned: Any) -> None:
        if not digest:
            return
        with self._lock:
            known = self._loaded()
            known[digest] = replace(known.pop(digest, ModelNotes()), **learned)
            while len(known) > _MOST_MODELS:
                del known[next(iter(known))]
            self._save(known)

    def _loaded(self) -> dict[str, ModelNotes]:
        if self._notes is None:
            self._notes = {} if self._path is None else _read(self._path)
        return self._notes

    def _save(self, known: dict[str, ModelNotes]) -> None:
        if self._path is None:
            return
        partial = self._path.with_suffix(f".{os.getpid()}.part")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps({digest: asdict(notes) for digest, notes in known.items()}))
            partial.replace(self._path)
        except OSError:
            return  # it is learned again next time


def _read(path: Path) -> dict[str, ModelNotes]:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {str(digest): _notes(entry) for digest, entry in kept.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _notes(entry: dict[str, Any]) -> ModelNotes:
    ratio, off = entry.get("tokens_ratio"), entry.get("thinking_off")
    return ModelNotes(
        float(ratio) if isinstance(ratio, int | float) and 0.0 < ratio < 100.0 else 0.0,
        off if isinstance(off, bool) else None,
    )
