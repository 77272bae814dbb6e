"""The automatic threshold: the distance that at most 5 % of off-topic questions pass in this very folder.

One threshold does not fit two folders: the more passages there are, the nearer lies the nearest to any
question. So the bundled off-topic questions are searched in the folder, and the threshold is put where only
one in twenty gets under it.

Floor, ceiling and default are shares of `unrelated_distance`, which is what "unrelated" measures with this
embedder, because another model has another scale.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
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
DEFAULT = 0.70
"""In units of `unrelated_distance`, as the next two: 0.65 with all-MiniLM-L6-v2. In samples of 5 to 50
passages of three corpora it lets 2.5 % of unrelated questions pass at most, and refuses 6 % of the others."""
CEILING = 0.75
"""0.69 with all-MiniLM-L6-v2: nearly nothing that answers a question lies beyond it."""
FLOOR = 0.40
"""0.37 with all-MiniLM-L6-v2: below it a folder would refuse too many of its own questions."""

FEWEST_QUESTIONS = 10
"""With fewer in the folder's language, all questions count."""

_EVERYWHERE = Scope()


def calibrate(snapshot: Snapshot, questions: Sequence[str], vectors: Matrix) -> Threshold:
    """The threshold for one folder and one embedder.

    questions, vectors: the off-topic questions and their unit vectors, row by row.
    Questions that the folder seems to be about are left out, and so are those in another language than the
    folder's, which an encoder of one language puts far from everything: they would only loosen the threshold.
    """
    unrelated = unrelated_distance(vectors)
    default = _rounded_down(DEFAULT * unrelated)
    if snapshot.chunk_count < FEWEST_CHUNKS:
        return Threshold(default, "default", f"fewer than {FEWEST_CHUNKS} passages to calibrate on")
    common = common_words(questions)
    rows = range(len(questions))
    askable = [row for row in rows if speaks_the_folders_language(snapshot, questions[row])]
    if len(askable) < FEWEST_QUESTIONS:
        askable = list(rows)
    used = [row for row in askable if not strong_evidence(snapshot, questions[row], common)]
    if len(used) < FEWEST_QUESTIONS:
        return Threshold(
            default, "default", f"only {len(used)} off-topic questions are off this folder's topics"
        )
    point = passing_point(snapshot.nearest(vectors[used]))
    value = min(max(point, _rounded_down(FLOOR * unrelated)), _rounded_down(CEILING * unrelated))
    limit = "" if value == point else f"; {'floor' if value > point else 'ceiling'} {value:.3f}"
    return Threshold(value, "auto", f"5 % of {len(used)} off-topic questions pass at {point:.3f}{limit}")


def unrelated_distance(vectors: Matrix) -> float:
    """The median cosine distance between two rows: 0.92 with all-MiniLM-L6-v2 and the bundled questions."""
    above_diagonal = np.triu_indices(len(vectors), k=1)
    return float(np.median(1.0 - (vectors @ vectors.T)[above_diagonal]))


def passing_point(distances: Vector) -> float:
    """The largest distance, in thousandths, that at most a share `PASSING` of the distances is within."""
    # A hair of slack: 5 % of 260 are 13, whatever the product of two binary fractions says.
    first_too_many = math.floor(PASSING * len(distances) + 1e-9)
    return _rounded_down(float(np.sort(distances)[first_too_many]))


def common_words(questions: Sequence[str]) -> frozenset[str]:
    """Tokens that at least one question in a hundred has: they ask, in any language, and name no topic."""
    counts = Counter(token for question in questions for token in set(tokenize(question)))
    at_least = max(2, len(questions) // 100)
    return frozenset(token for token, count in counts.items() if count >= at_least)


def strong_evidence(snapshot: Snapshot, question: str, common: AbstractSet[str]) -> bool:
    """Whether the folder may well be about this question: one passage holds nearly all of its telling words.

    Telling words are not `common` and stand in at most 5 % of the passages. At least two of them must stand
    together and weigh at least 75 % of all of them by idf: a word that the folder lacks speaks against it.
    """
    total = snapshot.chunk_count
    frequency = {token: snapshot.document_frequency(token) for token in _whole(tokenize(question)) - common}
    telling = {
        token: math.log(1 + (total - count + 0.5) / (count + 0.5))
        for token, count in frequency.items()
        if count <= max(1.0, 0.05 * total)
    }
    enough = 0.75 * sum(telling.values())
    present = [token for token in telling if frequency[token]]
    if len(present) < 2 or sum(telling[token] for token in present) < enough:
        return False
    hits = snapshot.lexical(present, 5, _EVERYWHERE)
    for chunk in snapshot.chunks([hit.chunk_id for hit in hits]):
        held = telling.keys() & set(tokenize(chunk.text))
        if len(held) >= 2 and sum(telling[token] for token in held) >= enough:
            return True
    return False


def _whole(tokens: Sequence[str]) -> set[str]:
    """Without the pieces of `don't` and `multi-agent`, which are one word each."""
    distinct = set(tokens)
    return {token for token in distinct if not any(token != other and token in other for other in distinct)}


def speaks_the_folders_language(snapshot: Snapshot, question: str) -> bool:
    """Whether a quarter of its words are usual in the folder: each in one passage of a hundred, or more.

    Measured on three folders in English and one in Japanese: it keeps 97 and 88 % of the questions in the
    language of the notes, and 2 to 6 % of the others. A language of hardly any note does not count.
    """
    words = _whole(tokenize(question))
    usual = max(1.0, 0.01 * snapshot.chunk_count)
    known = sum(snapshot.document_frequency(word) >= usual for word in words)
    return bool(words) and 4 * known >= len(words)


def _rounded_down(value: float) -> float:
    """To the three decimals that are shown, and below `value` (by float32's noise at least)."""
    return math.ceil((value - 1e-6) * 1000 - 1) / 1000
