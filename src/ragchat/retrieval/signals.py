"""What is known of a question after the search, in a few numbers that tell evidence from its absence.

The nearest distance alone takes a passage on the same topic for an answer. The other numbers look at the
words (are all of them met?) and at the competition (does one passage stand out?). They are read off the
search that was made anyway.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from ragchat.embedding.embedder import Vector
from ragchat.index.protocol import Hit, Snapshot
from ragchat.index.tokens import tokenize
from ragchat.retrieval.late import Closeness
from ragchat.retrieval.words import ASKING_WORDS, whole_words, word_weights

WORDING, STANDING_OUT, TELLING = "wording", "standing out", "telling words"

FIFTH = 5
"""The best is compared with the fifth best: four are sent, and an answer may stand in all of them."""
LOOKED_AT = 10
"""So many candidates are read for the question's telling words."""


@dataclass(frozen=True, slots=True)
class Signals:
    """The numbers of one question.

    words: how many different words it has; longer questions are met less well by anything.
    nearest: cosine distance of the nearest passage.
    others: by name, higher for more evidence.
    """

    words: int
    nearest: float
    others: Mapping[str, float]


def late_signals(question: str, dense: Sequence[Hit], closeness: Closeness) -> Signals:
    """With token vectors. `wording`: the best MaxSim to a passage's own words; `standing out`: how far the
    best MaxSim is above the fifth best.

    dense: the nearest passages, ascending, at least one. closeness: of the best candidates, at least one.
    """
    others = {
        WORDING: float(closeness.wording.max()),
        STANDING_OUT: _above_fifth(closeness.whole),
    }
    return Signals(_count_words(question), dense[0].value, others)


def plain_signals(
    question: str, dense: Sequence[Hit], held: Sequence[AbstractSet[str]], snapshot: Snapshot
) -> Signals:
    """Without token vectors. `standing out`: how much nearer the nearest is than the fifth; `telling words`:
    the share, weighed by idf, that one of the best candidates holds.

    held: the tokens of each of the best `LOOKED_AT`.
    """
    distances = np.array([hit.value for hit in dense], dtype=np.float32)
    others = {
        TELLING: _telling_share(question, held, snapshot),
        STANDING_OUT: _above_fifth(1 - distances),
    }
    return Signals(_count_words(question), dense[0].value, others)


def _above_fifth(scores: Vector) -> float:
    best = np.sort(scores)[::-1]
    return float(best[0] - best[min(FIFTH, len(best)) - 1])


def _count_words(question: str) -> int:
    return len(whole_words(tokenize(question)))


def _telling_share(question: str, held: Sequence[AbstractSet[str]], snapshot: Snapshot) -> float:
    weights = word_weights(whole_words(tokenize(question)) - ASKING_WORDS, snapshot)
    if not weights:
        return 0.0
    shares = (math.fsum(weights[word] for word in weights.keys() & words) for words in held)
    return max(shares, default=0.0) / math.fsum(weights.values())
