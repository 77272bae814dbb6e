"""Which threshold holds for an index, kept with it, so that asking needs no calibration.

A fixed number in the settings wins. Otherwise the automatic threshold is calibrated after indexing and kept
under the stamp of what made the vectors. It is made anew at the end of each update that changed anything, so
that a folder that was edited has the threshold of a fresh index; only a large one waits until it has grown or
shrunk by a twentieth, and a question that comes between two updates takes what is there, up to a fifth. What
the user's own questions moved it by (`ragchat calibrate`) is kept apart, and holds for each new one.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import asdict, dataclass

from ragchat.embedding.embedder import Embedder
from ragchat.errors import StorageFailed
from ragchat.index.protocol import Index, IndexStamp
from ragchat.retrieval.adaptive import gate_version, read_gate
from ragchat.retrieval.calibrated import kept_calibration, moved
from ragchat.retrieval.calibration import FEWEST_CHUNKS, calibrate
from ragchat.retrieval.off_topic import load_off_topic_questions, off_topic_asked, set_version
from ragchat.retrieval.retriever import require_same_embedder
from ragchat.retrieval.trace import Threshold
from ragchat.settings import RetrievalSettings

MEASURED_EACH_TIME = 50_000
"""Passages, up to which every change counts: it takes seconds then, of a thread that nobody waits for."""

_RULE = 2
"""Raised whenever the same questions and passages give another threshold."""


@dataclass(frozen=True, slots=True)
class KeptThreshold:
    """chunks: on how many passages it was measured. made_with: the questions and weights that made it.

    generation: of the index when it was measured.
    """

    threshold: Threshold
    chunks: int
    made_with: str
    generation: int


def current_threshold(index: Index, settings: RetrievalSettings) -> Threshold | None:
    """The threshold that holds now; None when it is automatic and not calibrated yet. Needs no model."""
    fixed = fixed_threshold(settings)
    if fixed is not None:
        return fixed
    kept = kept_threshold(index)
    return moved(kept.threshold, kept_calibration(index)) if kept else None


def needs_refresh(index: Index, settings: RetrievalSettings) -> bool:
    """Whether a question has to wait for another threshold, and so would need the embedder."""
    if fixed_threshold(settings) is not None or index.stamp is None:
        return False
    kept = kept_threshold(index)
    return kept is None or not still_holds(kept, index.chunk_count())


def is_outdated(index: Index, settings: RetrievalSettings) -> bool:
    """Whether it was measured on other passages than the index holds after an update."""
    if fixed_threshold(settings) is not None or index.stamp is None:
        return False
    kept = kept_threshold(index)
    if kept is None or kept.made_with != _made_with():
        return True
    chunks = index.chunk_count()
    if chunks > MEASURED_EACH_TIME:
        return 20 * abs(chunks - kept.chunks) >= kept.chunks
    return index.generation() != kept.generation


def refresh_threshold(index: Index, embedder: Embedder, settings: RetrievalSettings) -> Threshold:
    """The threshold that holds now, calibrated first when it has to be.

    The embedder is not touched while the kept one still holds.
    Raises IndexMissing before anything was indexed, IndexStale when the embedder is not the index's.
    """
    kept = current_threshold(index, settings)
    if kept is not None and not needs_refresh(index, settings):
        return kept
    return renew_threshold(index, embedder, settings)


def renew_threshold(index: Index, embedder: Embedder, settings: RetrievalSettings) -> Threshold:
    """The automatic threshold, measured on what the index holds now. Raises as `refresh_threshold` does.

    Where it cannot be kept (a full disk, a folder that may only be read) it is measured again the next time.
    """
    generation = index.generation()  # read first: what is written meanwhile makes it outdated
    snapshot = index.snapshot()
    require_same_embedder(snapshot.stamp.embedder, embedder.stamp)
    questions = load_off_topic_questions()
    threshold = calibrate(snapshot, off_topic_asked(embedder, questions), settings)
    with suppress(StorageFailed):
        kept = KeptThreshold(threshold, snapshot.chunk_count, _made_with(), generation)
        _write(index, snapshot.stamp, kept)
    return moved(threshold, kept_calibration(index))


def fixed_threshold(settings: RetrievalSettings) -> Threshold | None:
    """A number that the settings fix, if they do."""
    if settings.threshold == "auto":
        return None
    return Threshold(settings.threshold, "setting", f"fixed at {settings.threshold:.3f} in the settings")


def still_holds(kept: KeptThreshold, chunks: int) -> bool:
    """Whether it would hardly be another one, measured on so many passages."""
    if kept.made_with != _made_with():
        return False
    if (kept.chunks < FEWEST_CHUNKS) != (chunks < FEWEST_CHUNKS):
        return False
    return 5 * abs(chunks - kept.chunks) < max(kept.chunks, 1)


def _made_with() -> str:
    return f"{_RULE} {set_version(load_off_topic_questions())} {gate_version()}"


def _stamp_digest(stamp: IndexStamp) -> str:
    return hashlib.sha256(json.dumps(asdict(stamp), sort_keys=True).encode()).hexdigest()[:32]


def kept_threshold(index: Index) -> KeptThreshold | None:
    """What was measured last under the index's stamp; None where nothing was."""
    if index.stamp is None:
        return None
    text = index.read_value(f"threshold:{_stamp_digest(index.stamp)}")
    if text is None:
        return None
    try:
        kept = json.loads(text)
        gates = tuple(read_gate(gate) for gate in kept["gates"])
        threshold = Threshold(float(kept["value"]), kept["origin"], str(kept["detail"]), gates)
        made_with, generation = str(kept["made_with"]), int(kept.get("generation", -1))
        return KeptThreshold(threshold, int(kept["chunks"]), made_with, generation)
    except (ValueError, TypeError, KeyError):
        return None  # not ours, or damaged: it is calibrated again


def _write(index: Index, stamp: IndexStamp, kept: KeptThreshold) -> None:
    value = asdict(kept.threshold) | {
        "chunks": kept.chunks,
        "made_with": kept.made_with,
        "generation": kept.generation,
    }
    index.write_value(f"threshold:{_stamp_digest(stamp)}", json.dumps(value))
