"""Late interaction: how well the words of a question are met by the words of a passage, one by one.

The encoder makes a vector of every token before it averages them. MaxSim = the mean, over the tokens of the
question, of the largest cosine to any token of the passage (Khattab & Zaharia 2020, ColBERT, SIGIR, p. 39).
The average forgets which words a passage lacks; the token vectors do not, and they were computed anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ragchat.embedding.embedder import Int8Matrix, Matrix, Vector

MAXSIM_SHARE = 0.8
"""The rest is the cosine of the two averages, which knows what a passage is about as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class Closeness:
    """MaxSim of one question to n passages, each in [-1, 1].

    whole: to all tokens of a passage, its header's too, shape (n,).
    wording: to the passage's own words alone, shape (n,). A header names the topic, which a passage beside
        the point shares with the question.
    """

    whole: Vector
    wording: Vector


def closeness(question: Matrix, passages: Sequence[Int8Matrix], headers: Sequence[int]) -> Closeness:
    """MaxSim of the question to every passage.

    question: unit rows, shape (tokens, dimensions), at least one. passages: one row a token, of any length
    but zero. headers: how many of a passage's first rows belong to its header. A passage without any token
    is met by nothing: 0.
    """
    lengths = [len(passage) for passage in passages]
    found = np.zeros((2, len(passages)), dtype=np.float32)
    held = [at for at, length in enumerate(lengths) if length]
    if not held:
        return Closeness(*found)
    rows = np.concatenate([passages[at] for at in held]).astype(np.float32)
    rows /= np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-9)[:, None]
    cosines = question @ rows.T
    starts = np.concatenate([[0], np.cumsum([lengths[at] for at in held])[:-1]])
    found[:, held] = np.maximum.reduceat(cosines, starts, axis=1).mean(axis=0)
    for at, start in zip(held, starts, strict=True):
        header, end = headers[at], start + lengths[at]
        if 0 < header < lengths[at]:
            found[1, at] = cosines[:, start + header : end].max(axis=1).mean()
    return Closeness(*found)


def rank_scores(whole: Vector, distances: Vector) -> Vector:
    """What orders the candidates: MaxSim with a fifth of the plain cosine, in [-1, 1].

    Chosen on every second question of three sets, reported on the others (docs/retrieval.md).
    """
    scores: Vector = MAXSIM_SHARE * whole + (1 - MAXSIM_SHARE) * (1 - distances)
    return scores
