"""An index of a folder cut in another way, kept in the cache: the folder's own index is not touched."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from ragchat.embedding.embedder import Embedder
from ragchat.errors import SetupError
from ragchat.evaluation.remembering import Remembering
from ragchat.evaluation.strategies import Cutting
from ragchat.evaluation.truncating import Truncating
from ragchat.index.contexts import Contexts
from ragchat.index.indexer import Indexer
from ragchat.index.progress import ProgressListener
from ragchat.index.protocol import Index
from ragchat.index.store import SqliteIndex, open_index
from ragchat.paths import cache_dir, make_private_dir
from ragchat.settings import Settings


@contextmanager
def variant_index(
    folder: Path,
    cutting: Cutting,
    embedder: Embedder,
    settings: Settings,
    known: Sequence[Index] = (),
    contexts: Contexts | None = None,
    *,
    on_progress: ProgressListener | None = None,
    cancel: threading.Event | None = None,
) -> Iterator[tuple[SqliteIndex, Embedder, Path]]:
    """The index of the folder under this cutting, up to date; the embedder to ask it with; where it lies.

    contexts: writes those that the cutting asks for.
    known: indexes of the same folder, open; a passage that one of them holds is not embedded again.
    Raises SetupError when some notes could not be embedded.
    """
    used: Embedder = Remembering(embedder, known)
    if cutting.beyond_window:
        used = Remembering(Truncating(used), known)
    place = make_private_dir(_place(folder, cutting, used))
    index = open_index(place)
    try:
        indexer = Indexer(
            folder,
            index,
            lambda: used,
            notes=settings.notes,
            chunking=cutting.options,
            expected_stamp=lambda: used.stamp,
            contexts=contexts,
        )
        report = indexer.run(on_progress=on_progress, cancel=cancel)
        if not report.complete and not (cancel and cancel.is_set()):
            raise SetupError(
                f"{cutting.name}: {report.pending} notes could not be embedded: {report.embedding_error}"
            )
        yield index, used, place
    finally:
        index.close()


def _place(folder: Path, cutting: Cutting, embedder: Embedder) -> Path:
    made_by = [str(folder.resolve()), cutting.options.stamp, asdict(embedder.stamp)]
    name = sha256(json.dumps(made_by, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return cache_dir() / "evaluation" / "indexes" / name
