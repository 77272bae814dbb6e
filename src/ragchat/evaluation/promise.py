"""The automatic threshold promises that one off-topic question in twenty passes. Does it keep that here?

Checked without any question of the user's: the threshold is measured on one half of the bundled off-topic
questions and tried on the other, both ways round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ragchat.embedding.embedder import Embedder
from ragchat.evaluation.statistics import Proportion, proportion
from ragchat.index.protocol import Snapshot
from ragchat.retrieval.calibration import (
    FEWEST_CHUNKS,
    FEWEST_QUESTIONS,
    PASSING,
    calibrate,
    off_topic_subjects,
)
from ragchat.retrieval.off_topic import load_off_topic_questions, off_topic_asked
from ragchat.retrieval.retriever import Retriever
from ragchat.settings import RetrievalSettings


@dataclass(frozen=True, slots=True)
class Promise:
    """passing: of the off-topic questions that took no part in measuring the threshold."""

    passing: Proportion

    @property
    def broken(self) -> bool:
        """Whether more pass than was promised, beyond what chance explains."""
        return self.passing.low > PASSING


def check_promise(
    snapshot: Snapshot,
    embedder: Embedder,
    settings: RetrievalSettings,
    on_progress: Callable[[int, int], None] | None = None,
) -> Promise | None:
    """What passes of the questions left out; None where the folder is too small to measure a threshold on."""
    asked = off_topic_asked(embedder, load_off_topic_questions())
    used = off_topic_subjects(snapshot, asked)
    if snapshot.chunk_count < FEWEST_CHUNKS or len(used) < 2 * FEWEST_QUESTIONS:
        return None
    halves = used[::2], used[1::2]
    passed: list[float] = []
    for measured, tried in (halves, halves[::-1]):
        retriever = Retriever(snapshot, embedder, settings, calibrate(snapshot, measured, settings))
        for question in tried:
            if on_progress is not None:
                on_progress(len(passed), len(used))
            passed.append(float(not retriever.retrieve(question.text).refused))
    share = proportion(passed)
    return None if share is None else Promise(share)
