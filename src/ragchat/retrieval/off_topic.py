"""The bundled questions that no folder of notes is expected to answer, and their vectors.

They stand for everything a person may ask that the notes know nothing about: the automatic threshold is the
distance that hardly any of them gets under.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from ragchat.embedding.bundled_questions import load_off_topic_questions, set_version
from ragchat.embedding.embedder import Embedder, Matrix
from ragchat.paths import cache_dir, make_private_dir

__all__ = ["load_off_topic_questions", "off_topic_vectors", "set_version"]


def off_topic_vectors(embedder: Embedder, questions: Sequence[str]) -> Matrix:
    """The questions' unit vectors, shape (len(questions), dimensions); embedded once for each embedder.

    They are kept in the cache folder under the embedder's stamp and the set's version. A cache that cannot be
    read or written only costs the time to embed them again.
    """
    stamp = json.dumps(asdict(embedder.stamp), sort_keys=True)
    name = hashlib.sha256(f"{stamp}\n{set_version(questions)}".encode()).hexdigest()[:32]
    path = cache_dir() / "off_topic" / f"{name}.npy"
    kept = _read(path, (len(questions), embedder.stamp.dimensions))
    if kept is not None:
        return kept
    vectors = np.stack([embedder.embed_question(question) for question in questions])
    _write(path, vectors)
    return vectors


def _read(path: Path, shape: tuple[int, int]) -> Matrix | None:
    try:
        vectors = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    if vectors.shape != shape or vectors.dtype != np.float32:
        return None
    units: Matrix = vectors
    # A file damaged within keeps its shape; a vector that is no longer of unit length gives it away.
    return units if np.allclose(np.linalg.norm(units, axis=1), 1.0, atol=1e-3) else None


def _write(path: Path, vectors: Matrix) -> None:
    """Switch the whole file at once, readable by the user alone (mkstemp makes it so)."""
    try:
        make_private_dir(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.save(file, vectors, allow_pickle=False)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
    except OSError:
        return
