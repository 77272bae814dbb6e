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
from zipfile import BadZipFile

import numpy as np

from ragchat.embedding.bundled_questions import load_off_topic_questions, set_version
from ragchat.embedding.embedder import Embedder, Matrix
from ragchat.paths import cache_dir, make_private_dir
from ragchat.retrieval.search import Asked, asked_with

__all__ = ["load_off_topic_questions", "off_topic_asked", "off_topic_vectors", "set_version"]


def off_topic_vectors(embedder: Embedder, questions: Sequence[str]) -> Matrix:
    """The questions' unit vectors, shape (len(questions), dimensions); embedded once for each embedder."""
    return np.stack([asked.vector for asked in off_topic_asked(embedder, questions)])


def off_topic_asked(embedder: Embedder, questions: Sequence[str]) -> list[Asked]:
    """The questions with their vectors and token vectors, embedded once for each embedder.

    They are kept in the cache folder under the embedder's stamp and the set's version. A cache that cannot be
    read or written only costs the time to embed them again.
    """
    stamp = json.dumps(asdict(embedder.stamp), sort_keys=True)
    name = hashlib.sha256(f"{stamp}\n{set_version(questions)}".encode()).hexdigest()[:32]
    path = cache_dir() / "off_topic" / f"{name}.npz"
    kept = _read(path, questions, embedder.stamp.dimensions)
    if kept is None:
        kept = [asked_with(embedder, question) for question in questions]
        _write(path, kept)
    return kept


def _read(path: Path, questions: Sequence[str], dimensions: int) -> list[Asked] | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            vectors, offsets, tokens = file["vectors"], file["offsets"], file["tokens"]
    except (OSError, ValueError, EOFError, KeyError, TypeError, BadZipFile):
        return None
    if vectors.shape != (len(questions), dimensions) or offsets.shape != (len(questions) + 1,):
        return None
    if not _are_unit(vectors) or not _are_unit(tokens):
        return None
    return [
        Asked(question, vectors[at], tokens[offsets[at] : offsets[at + 1]])
        for at, question in enumerate(questions)
    ]


def _are_unit(rows: Matrix) -> bool:
    """A file damaged within keeps its shape; a vector that is no longer of unit length gives it away."""
    return rows.dtype == np.float32 and bool(np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3))


def _write(path: Path, asked: Sequence[Asked]) -> None:
    """Switch the whole file at once, readable by the user alone (mkstemp makes it so)."""
    offsets = np.cumsum([0, *(len(one.tokens) for one in asked)])
    vectors = np.stack([one.vector for one in asked])
    tokens = np.concatenate([one.tokens for one in asked])
    try:
        make_private_dir(path.parent)
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, vectors=vectors, offsets=offsets, tokens=tokens)
            Path(temporary).replace(path)
        except OSError:
            Path(temporary).unlink(missing_ok=True)
    except OSError:
        return
