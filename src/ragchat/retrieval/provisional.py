"""The threshold while a folder is embedded in part: an earlier one, drawn to the size the folder will have.

The nearest passage to any question lies the nearer, the more passages there are, so that a threshold measured
on few of them would let too much pass. On three corpora (0.65 with 50 passages, 0.58 with 200, 0.50 with
2,134) it falls with the logarithm of their number.
"""

from __future__ import annotations

import math

from ragchat.embedding.embedder import Embedder
from ragchat.index.protocol import Index
from ragchat.retrieval.calibration import CEILING, DEFAULT, FLOOR, SMALL, unrelated_distance
from ragchat.retrieval.off_topic import load_off_topic_questions, off_topic_vectors
from ragchat.retrieval.threshold import fixed_threshold, kept_threshold, still_holds
from ragchat.retrieval.trace import Threshold
from ragchat.settings import RetrievalSettings

_SLOPE = 0.043
"""In units of `unrelated_distance`, for e times as many passages."""
_EVERY = 16
"""Forty of the questions tell how far unrelated ones lie, in a third of a second; all would take five."""


def provisional_threshold(
    index: Index, embedder: Embedder, settings: RetrievalSettings, passages: int
) -> Threshold:
    """What is likely to hold when all `passages` of the folder are embedded; labelled so.

    A threshold that the user has set holds as it is, and so does one that was measured on about as many
    passages, because it will hold then, too.
    """
    fixed, kept = fixed_threshold(settings), kept_threshold(index)
    if fixed is not None:
        return fixed
    if kept is not None and still_holds(kept, passages):
        return kept.threshold
    some = load_off_topic_questions()[::_EVERY]
    unrelated = unrelated_distance(off_topic_vectors(embedder, some))
    value, measured = (kept.threshold.value, kept.chunks) if kept else (DEFAULT * unrelated, SMALL)
    value -= _SLOPE * unrelated * math.log(max(passages, SMALL) / max(measured, SMALL))
    value = min(max(value, FLOOR * unrelated), CEILING * unrelated)
    return Threshold(
        math.floor(value * 1000) / 1000,
        "provisional",
        f"estimated for {passages:,} passages until all of them are embedded",
    )
