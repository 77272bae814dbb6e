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
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from ragchat.embedding.embedder import Matrix
from ragchat.index.protocol import Scope, Snapshot
from ragchat.index.tokens import tokenize
from ragchat.retrieval.adaptive import Distances, Kind, Limits, fit_folder_gate
from ragchat.retrieval.legibility import script_of
from ragchat.retrieval.search import DEPTH, Asked, closeness_of, fused_order
from ragchat.retrieval.signals import LOOKED_AT, Signals, late_signals, plain_signals
from ragchat.retrieval.trace import Threshold
from ragchat.retrieval.words import common_words, whole_words
from ragchat.settings import RetrievalSettings

PASSING = 0.05
"""The share of off-topic questions that may find a passage under the threshold."""
FEWEST_CHUNKS = 5
"""With fewer, a folder's nearest distances say too little, and the default holds."""
SMALL = 50
"""With fewer passages, hardly any word is usual in them, and their script tells the language, too."""
DEFAULT = 0.70
"""In units of `unrelated_distance`, as the next two: 0.65 with all-MiniLM-L6-v2."""
CEILING = 0.75
"""0.69 with all-MiniLM-L6-v2: nearly nothing that answers a question lies beyond it (2 of 1,061 questions).
Without it 10 % of unrelated questions pass in notes of random words."""
FLOOR = 0.40
"""0.37 with all-MiniLM-L6-v2: below it a folder would refuse too many of its own questions."""
CLOSEST = 0.25
"""0.23 with all-MiniLM-L6-v2: what is nearer passes. Of 1,875 questions to be refused or answered none that
was refused had its nearest passage within 0.34."""

FEWEST_QUESTIONS = 10
"""With fewer in the folder's language, all questions count."""

_READ_AT_ONCE = 1000
"""Passages; their own words are not kept."""

_EVERYWHERE = Scope()


def calibrate(snapshot: Snapshot, asked: Sequence[Asked], settings: RetrievalSettings) -> Threshold:
    """The threshold for one folder and one embedder, with what moves it for a question.

    asked: the off-topic questions.
    """
    unrelated = _unrelated(asked)
    default = _rounded_down(DEFAULT * unrelated)
    if snapshot.chunk_count < FEWEST_CHUNKS:
        return Threshold(default, "default", f"fewer than {FEWEST_CHUNKS} passages to calibrate on")
    passages = Passages(snapshot, asked)
    used = off_topic_subjects(snapshot, asked, passages)
    if len(used) < FEWEST_QUESTIONS:
        return Threshold(
            default, "default", f"only {len(used)} off-topic questions are off this folder's topics"
        )
    signals = {
        kind: ones
        for kind, ones in off_topic_signals(snapshot, used, settings.candidates, passages).items()
        if len(ones) >= FEWEST_QUESTIONS
    }
    limits = folder_limits(asked)
    gates = tuple(fit_folder_gate(kind, ones, limits) for kind, ones in signals.items())
    base, passing = gates[0].base, gates[0].passing
    limit = "" if base == passing else f"; {'floor' if base > passing else 'ceiling'} {base:.3f}"
    detail = f"5 % of {len(used)} off-topic questions pass at {passing:.3f}{limit}"
    return Threshold(base, "auto", detail, gates)


def off_topic_subjects(
    snapshot: Snapshot, asked: Sequence[Asked], passages: Passages | None = None
) -> list[Asked]:
    """The off-topic questions that tell something of this folder.

    Questions that the folder seems to be about are left out, and so are those in another language than the
    folder's, which an encoder of one language puts far from everything: they would only loosen the threshold.
    """
    common = common_words([one.text for one in asked])
    scripts = folder_scripts(snapshot, asked[0]) if asked and snapshot.chunk_count < SMALL else frozenset()
    askable = [
        one
        for one in asked
        if script_of(one.text) in scripts or speaks_the_folders_language(snapshot, one.text)
    ]
    if len(askable) < FEWEST_QUESTIONS and snapshot.chunk_count < SMALL:
        askable = [one for one in asked if _shares_a_word(snapshot, one.text)]
    if len(askable) < FEWEST_QUESTIONS:
        askable = list(asked)
    passages = passages or Passages(snapshot, asked)
    return [one for one in askable if not strong_evidence(snapshot, one.text, common, passages)]


def folder_limits(asked: Sequence[Asked]) -> Limits:
    """What every threshold keeps to under the embedder that embedded these questions."""
    unrelated = _unrelated(asked)
    return Limits(
        passing_point,
        lowest=_rounded_down(FLOOR * unrelated),
        highest=_rounded_down(CEILING * unrelated),
        farthest=_rounded_down(unrelated),
        closest=_rounded_down(CLOSEST * unrelated),
    )


def _unrelated(asked: Sequence[Asked]) -> float:
    return unrelated_distance(np.stack([one.vector for one in asked]))


def off_topic_signals(
    snapshot: Snapshot, questions: Sequence[Asked], candidates: int, passages: Passages | None = None
) -> Mapping[Kind, Sequence[Signals]]:
    """Both kinds where there are token vectors, because they may be missing or unwanted later.

    What `Retriever` would find for each question, asked for all of them together.
    """
    passages = passages or Passages(snapshot, questions)
    vectors = np.stack([asked.vector for asked in questions])
    dense = snapshot.dense_of_each(vectors, candidates)
    lexical = [snapshot.lexical(tokenize(asked.text), candidates, _EVERYWHERE) for asked in questions]
    orders = [
        fused_order(snapshot.stamp.embedder, asked.text, *hits)[:DEPTH]
        for asked, *hits in zip(questions, dense, lexical, strict=True)
    ]
    passages.read([chunk_id for order in orders for chunk_id in order])
    late: list[Signals] = []
    plain: list[Signals] = []
    for asked, hits, order in zip(questions, dense, orders, strict=True):
        plain.append(plain_signals(asked.text, hits, passages.words(order[:LOOKED_AT]), snapshot))
        met = closeness_of(snapshot, asked, order, passages.headers(order))
        if met is not None:
            late.append(late_signals(asked.text, hits, met))
    return {"late": late, "plain": plain} if late else {"plain": plain}


class Passages:
    """Passages that questions have found, each read once for all of them."""

    def __init__(self, snapshot: Snapshot, questions: Sequence[Asked]) -> None:
        self._snapshot = snapshot
        self._asked = frozenset(token for asked in questions for token in tokenize(asked.text))
        self._texts: dict[int, str] = {}
        self._headers: dict[int, int] = {}
        self._words: dict[int, frozenset[str]] = {}

    def read(self, chunk_ids: Sequence[int]) -> None:
        """Have these at hand."""
        missing = [chunk_id for chunk_id in dict.fromkeys(chunk_ids) if chunk_id not in self._texts]
        for start in range(0, len(missing), _READ_AT_ONCE):
            some = missing[start : start + _READ_AT_ONCE]
            for chunk_id, chunk in zip(some, self._snapshot.chunks(some), strict=True):
                self._texts[chunk_id], self._headers[chunk_id] = chunk.text, chunk.header_tokens

    def headers(self, chunk_ids: Sequence[int]) -> list[int]:
        """How many tokens of each are its header's. They were `read`."""
        return [self._headers[chunk_id] for chunk_id in chunk_ids]

    def words(self, chunk_ids: Sequence[int]) -> list[frozenset[str]]:
        """Which tokens of the questions each holds. They were `read`."""
        for chunk_id in chunk_ids:
            if chunk_id not in self._words:
                self._words[chunk_id] = self._asked.intersection(tokenize(self._texts[chunk_id]))
        return [self._words[chunk_id] for chunk_id in chunk_ids]


def unrelated_distance(vectors: Matrix) -> float:
    """The median cosine distance between two rows: 0.92 with all-MiniLM-L6-v2 and the bundled questions."""
    above_diagonal = np.triu_indices(len(vectors), k=1)
    return float(np.median(1.0 - (vectors @ vectors.T)[above_diagonal]))


def passing_point(distances: Distances) -> float:
    """The largest distance, in thousandths, that at most a share `PASSING` of the distances is within."""
    # A hair of slack: 5 % of 260 are 13, whatever the product of two binary fractions says.
    first_too_many = math.floor(PASSING * len(distances) + 1e-9)
    return _rounded_down(float(np.sort(distances)[first_too_many]))


def strong_evidence(snapshot: Snapshot, question: str, common: AbstractSet[str], passages: Passages) -> bool:
    """Whether the folder may well be about this question: one passage holds nearly all of its telling words.

    Telling words are not `common` and stand in at most 5 % of the passages. At least two of them must stand
    together and weigh at least 75 % of all of them by idf: a word that the folder lacks speaks against it.
    """
    total = snapshot.chunk_count
    frequency = {
        token: snapshot.document_frequency(token) for token in whole_words(tokenize(question)) - common
    }
    telling = {
        token: math.log(1 + (total - count + 0.5) / (count + 0.5))
        for token, count in frequency.items()
        if count <= max(1.0, 0.05 * total)
    }
    enough = 0.75 * math.fsum(telling.values())
    present = [token for token in sorted(telling) if frequency[token]]
    if len(present) < 2 or math.fsum(telling[token] for token in present) < enough:
        return False
    best = [hit.chunk_id for hit in snapshot.lexical(present, 5, _EVERYWHERE)]
    passages.read(best)
    for words in passages.words(best):
        held = telling.keys() & words
        if len(held) >= 2 and math.fsum(telling[token] for token in held) >= enough:
            return True
    return False


def speaks_the_folders_language(snapshot: Snapshot, question: str) -> bool:
    """Whether a quarter of its words are usual in the folder: each in one passage of a hundred, or more.

    Measured on three folders in English and one in Japanese: it keeps 97 and 88 % of the questions in the
    language of the notes, and 2 to 6 % of the others. A language of hardly any note does not count.
    """
    words = whole_words(tokenize(question))
    usual = max(1.0, 0.01 * snapshot.chunk_count)
    known = sum(snapshot.document_frequency(word) >= usual for word in words)
    return bool(words) and 4 * known >= len(words)


def _shares_a_word(snapshot: Snapshot, question: str) -> bool:
    """A few passages hold few words of their language; hardly a question in another one has any of them."""
    return any(snapshot.document_frequency(word) for word in whole_words(tokenize(question)))


def folder_scripts(snapshot: Snapshot, asked: Asked) -> frozenset[str]:
    """The scripts of a fifth of the passages or more, but for Latin; asked: any question. Reads all passages.

    A script of its own tells the language nearly as well as words do, and needs but a line of text.
    """
    found = [hit.chunk_id for hit in snapshot.dense(asked.vector, snapshot.chunk_count, _EVERYWHERE)]
    counts = Counter(script_of(chunk.content) for chunk in snapshot.chunks(found))
    return frozenset(name for name, count in counts.items() if name and 5 * count >= len(found))


def _rounded_down(value: float) -> float:
    """To the three decimals that are shown, and below `value` (by float32's noise at least)."""
    return math.ceil((value - 1e-6) * 1000 - 1) / 1000
