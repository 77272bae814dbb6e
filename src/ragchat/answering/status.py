"""What `ragchat status` and the screen tell about one folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ragchat.documents.document import FailedDocument
from ragchat.index.protocol import IndexStamp
from ragchat.retrieval.trace import Threshold


@dataclass(frozen=True, slots=True)
class FolderStatus:
    """Counters count what is. skipped: why -> how many. stamp and threshold: None before indexing."""

    folder: Path
    indexed: int
    failed: int
    stale: int
    skipped: Mapping[str, int]
    failures: tuple[FailedDocument, ...]
    chunks: int
    stamp: IndexStamp | None
    extractors: tuple[str, ...]
    threshold: Threshold | None
