"""The automatic threshold: the distance that at most 5 % of off-topic questions pass in this very folder.

One threshold does not fit two folders: the more passages there are, the nearer lies the nearest to any
question. So the bundled off-topic questions are searched in the folder, and the threshold is put where only
one in twenty gets under it.

Floor, ceiling and default are shares of `unrelated_distance`, which is what "unrelated" measures with this
embedder, because another model has another scale.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from ragchat.embedding.embedder import Matrix, Vector
from ragchat.index.protocol import Scope, Snapshot
from ragchat.index.tokens import tokenize
from ragchat.retrieval.trace import Threshold

PASSING = 0.05
"""The share of off-topic questions that may find a passage under the threshold."""
FEWEST_CHUNKS = 50
"""With fewer, a folder's nearest distances say too little, and the default holds."""
DEFAULT = 0.69
"""In units of `unrelated_distance`, as the next two: 0.65 with all-MiniLM-L6-v2. In samples of 5 to 50 passages
of three corpora that let at most 2.5 % of unrelated questions pass and lost at most 6 % of the others."""
CEILING = 0.75
"""0.70 with all-MiniLM-L6-v2: nearly nothing that answers a question lies beyond it."""
FLOOR = 0.40
"""0.38 with all-MiniLM-L6-v2: below it a folder would refuse too many of its own questions."""

_EVERYWHERE = Scope()
_SAMPLE = 200
"""So many passages tell in which scripts the folder is written."""


def calibrate(snapshot: Snapshot, questions: Sequence[str], vectors: Matrix) -> Threshold:
    """The threshold for one folder and one embedder.

    questions, vectors: the off-topic questions and their unit vectors, row by row.
    Questions that the folder seems to be about are left out; the others count for each script as much as the
    folder is written in it, because people ask in the languages of their notes.
    """
    unrelated = unrelated_distance(vectors)
    if snapshot.chunk_count < FEWEST_CHUNKS:
        value = _rounded_down(DEFAULT * unrelated)
        return Threshold(
            value, "default", f"fewer than {FEWEST_CHUNKS} passages to calibrate on: {value:.3f}"
        )
    nearest = snapshot.nearest(vectors)
    common = common_words(questions)
    off_topic = [
        row for row, question in enumerate(questions) if not strong_evidence(snapshot, question, common)
    ]
    weights = question_weights([questions[row] for row in off_topic], folder_scripts(snapshot, vectors[0]))
    used = int(np.count_nonzero(weights))
    point = _rounded_down(passing_point(nearest[off_topic], weights))
    floor, ceiling = _rounded_down(FLOOR * unrelated), _rounded_down(CEILING * unrelated)
    if point < floor:
        return Threshold(
            floor, "auto", f"5 % of {used} off-topic questions pass at {point:.3f}; floor {floor:.3f}"
        )
    if point > ceiling:
        detail = f"5 % of {used} off-topic questions pass at {point:.3f}; ceiling {ceiling:.3f}"
        return Threshold(ceiling, "auto", detail)
    return Threshold(point, "auto", f"5 % of {used} off-topic questions pass at {point:.3f}")


def unrelated_distance(vectors: Matrix) -> float:
    """The median cosine distance between two different rows: 0.9 or so with all-MiniLM-L6-v2."""
    above_diagonal = np.triu_indices(len(vectors), k=1)
    return float(np.median(1.0 - (vectors @ vectors.T)[above_diagonal]))


def passing_point(distances: Vector, weights: Vector) -> float:
    """The distance just not reached by the question whose weight brings the passing ones over `PASSING`.

    weights: shares that sum to 1. Questions nearer than the point weigh at most `PASSING` together.
    """
    order = np.argsort(distances, kind="stable")
    passed = np.cumsum(weights[order], dtype=np.float64)
    # A hair of slack: 13 of 260 are 5 %, whatever the sum of 13 binary fractions says.
    first_too_many = int(np.searchsorted(passed, PASSING + 1e-6, side="right"))
    return float(distances[order[min(first_too_many, len(order) - 1)]])


def common_words(questions: Sequence[str]) -> frozenset[str]:
    """Tokens that at least one question in a hundred has: they ask, in any language, and name no topic."""
    counts = Counter(token for question in questions for token in set(tokenize(question)))
    at_least = max(2, len(questions) // 100)
    return frozenset(token for token, count in counts.items() if count >= at_least)


def strong_evidence(snapshot: Snapshot, question: str, common: AbstractSet[str] = frozenset()) -> bool:
    """Whether the folder may well be about this question: one passage holds nearly all of its telling words.

    Telling words are not `common` and stand in at most 5 % of the passages. At least two of them must stand
    together, and weigh at least 75 % of all of them by idf, so that a word the folder lacks speaks against it.
    """
    total = snapshot.chunk_count
    tokens = tokenize(question)
    frequency = {token: snapshot.document_frequency(token) for token in _whole(tokens) - common}
    telling = {
        token: math.log(1 + (total - count + 0.5) / (count + 0.5))
        for token, count in frequency.items()
        if count <= max(1.0, 0.05 * total)
    }
    if len(telling) < 2:
        return False
    hits = snapshot.lexical(tokens, 5, _EVERYWHERE)
    for chunk in snapshot.chunks([hit.chunk_id for hit in hits]):
        held = telling.keys() & set(tokenize(chunk.text))
        if len(held) >= 2 and sum(telling[token] for token in held) >= 0.75 * sum(telling.values()):
            return True
    return False


def _whole(tokens: Sequence[str]) -> set[str]:
    """Without the pieces of `don't` and `multi-agent`, which are one word each."""
    distinct = set(tokens)
    return {token for token in distinct if not any(token != other and token in other for other in distinct)}


def folder_scripts(snapshot: Snapshot, probe: Vector) -> Mapping[str, float]:
    """In which scripts the folder is written, as shares that sum to 1, from evenly chosen passages.

    probe: any unit vector; the passages are taken at even steps along their distance to it.
    """
    hits = snapshot.dense(probe, snapshot.chunk_count, _EVERYWHERE)
    step = max(1, len(hits) // _SAMPLE)
    chunks = snapshot.chunks([hit.chunk_id for hit in hits[::step]])
    counts = Counter(script_of(chunk.content) for chunk in chunks)
    return {script: count / counts.total() for script, count in counts.items()}


def question_weights(questions: Sequence[str], scripts: Mapping[str, float]) -> Vector:
    """A share for each question, summing to 1: each script as much as the folder is written in it.

    Scripts that no question is written in are left out; where that leaves nothing, all questions count alike.
    """
    written = [script_of(question) for question in questions]
    counts = Counter(written)
    weights = np.array([scripts.get(script, 0.0) / counts[script] for script in written], dtype=np.float32)
    if not weights.any():
        weights[:] = 1.0
    shares: Vector = weights / weights.sum()
    return shares


def script_of(text: str) -> str:
    """The script of most of its letters ("LATIN", "CYRILLIC", …), "CJK" for Han with kana, LATIN for none."""
    counts = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    counts["CJK"] += counts.pop("HIRAGANA", 0) + counts.pop("KATAKANA", 0)
    script, count = max(counts.items(), key=lambda item: item[1])
    return script if count else "LATIN"


def _rounded_down(value: float) -> float:
    """To the three decimals that are shown, and below `value`, so that what is shown is what holds."""
    return math.ceil(value * 1000 - 1) / 1000
