"""What indexing tells while it runs and when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ragchat.documents.document import FailedDocument
from ragchat.index.contexts import ContextCosts

Phase = Literal["scanning", "loading model", "reading", "indexing", "calibrating", "done"]


@dataclass(frozen=True, slots=True)
class IndexProgress:
    """Counters count what happened so far. documents_total covers only what has to be read.

    documents_read: found by their words at least. documents_done: of these, those indexed or failed.
    contexts: written by a model so far.
    notice: one line, as soon as it shows that the embedder cannot read these notes; else "".
    current: the note in hand; while a model is loaded what is waited for, where that takes long; else "".
    """

    phase: Phase
    documents_done: int = 0
    documents_total: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0
    failed: int = 0
    current: str = ""
    documents_read: int = 0
    contexts: int = 0
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """What lies in a folder, before anything is read.

    skipped: why -> how many ("hidden", "ignored", "link out of the folder", "unsupported .zip").
    confirm: why ragchat must ask before it indexes this; "" where it need not.
    """

    files: int
    bytes: int
    skipped: Mapping[str, int]
    confirm: str = ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run of the indexer did. indexed: documents in the index now.

    complete: False when it was cancelled or embedding failed; what was done stays, the rest is pending.
    pending: documents that still have to be embedded; the next run takes them up.
    gaps: documents of which something could not be read, with what and why.
    embedding_error: why some of them could not be embedded, in one line, or "".
    contexts: what a model's contexts have cost; None where none were wanted.
    warning: one line ("the folder is empty: index kept"), or "".
    """

    indexed: int
    added: int
    updated: int
    moved: int
    removed: int
    unchanged: int
    chunks: int
    chunks_embedded: int
    failures: tuple[FailedDocument, ...]
    skipped: Mapping[str, int]
    seconds: float
    complete: bool
    warning: str = ""
    pending: int = 0
    embedding_error: str = ""
    gaps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contexts: ContextCosts | None = None


ProgressListener = Callable[[IndexProgress], None]
