"""Notes of any number, the same in every run: clustered unit vectors and words by Zipf's law.

A block of a thousand chunks depends on its number alone, so a small index is the beginning of a large one.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

DIMENSIONS = 384
CHUNKS_PER_NOTE = 20
QUESTIONS = 64

_SEED = 20261130
_BLOCK = 1000
_CLUSTERS = 1024
_SPREAD = 0.8
"""Length of what is added to a cluster's centre: two of a cluster lie at a cosine of about 0.6."""
_VOCABULARY = 200_000
_WORDS = (50, 91)
_SYLLABLES = [first + vowel for first in "bcdfghjklmnprstvwz" for vowel in "aeiou"]

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Block:
    """A thousand chunks (the last block: as many as are left)."""

    texts: list[str]
    vectors: Matrix


@dataclass(frozen=True, slots=True)
class Material:
    """The same chunks as files, for contenders of other processes.

    texts: one chunk a line. vectors: .npy. questions: JSON list of strings; their vectors: .npy.
    """

    size: int
    texts: Path
    vectors: Path
    questions: Path
    question_vectors: Path

    def as_request(self) -> dict[str, object]:
        """What a child is told of it."""
        return {
            "size": self.size,
            "texts": str(self.texts),
            "vectors": str(self.vectors),
            "questions": str(self.questions),
            "question_vectors": str(self.question_vectors),
        }


def blocks(size: int) -> Iterator[Block]:
    """So many chunks, in blocks."""
    for number in range(-(-size // _BLOCK)):
        count = min(_BLOCK, size - number * _BLOCK)
        yield Block(_texts(number)[:count], _vectors(number)[:count])


def questions() -> tuple[list[str], Matrix]:
    """Eight words each: four of a passage among the first thousand, four as they come; and their vectors."""
    rng = np.random.default_rng([_SEED, 3])
    passages, near = _texts(0), _vectors(0)
    chosen = rng.integers(0, _BLOCK, QUESTIONS)
    texts = []
    for place in chosen:
        own = rng.choice(passages[place].split(), 4, replace=False)
        common = [_words()[rank] for rank in _ranks(rng, 4)]
        texts.append(" ".join([*own, *common]))
    noise = rng.standard_normal((QUESTIONS, DIMENSIONS)) * (0.5 / np.sqrt(DIMENSIONS))
    return texts, _unit(near[chosen] + noise)


def material_in(folder: Path, size: int) -> Material:
    """Where the chunks of an index of this size lie."""
    return Material(
        size,
        folder / f"texts-{size}.txt",
        folder / f"vectors-{size}.npy",
        folder / "questions.json",
        folder / "questions.npy",
    )


def write_material(folder: Path, size: int) -> Material:
    """Write the chunks of an index of this size. About 2 KB each."""
    folder.mkdir(parents=True, exist_ok=True)
    made = material_in(folder, size)
    vectors = np.lib.format.open_memmap(made.vectors, "w+", np.float32, (size, DIMENSIONS))
    at = 0
    with made.texts.open("w", encoding="utf-8") as file:
        for block in blocks(size):
            vectors[at : at + len(block.texts)] = block.vectors
            file.writelines(f"{text}\n" for text in block.texts)
            at += len(block.texts)
    vectors.flush()
    write_questions(folder)
    return made


def write_questions(folder: Path) -> dict[str, object]:
    """Write the questions alone; what a child is told of them."""
    asked, asked_vectors = questions()
    (folder / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
    np.save(folder / "questions.npy", asked_vectors)
    return {
        "questions": str(folder / "questions.json"),
        "question_vectors": str(folder / "questions.npy"),
    }


def _vectors(number: int) -> Matrix:
    rng = np.random.default_rng([_SEED, 1, number])
    centres = _centres()[rng.integers(0, _CLUSTERS, _BLOCK)]
    noise = rng.standard_normal((_BLOCK, DIMENSIONS), dtype=np.float32)
    return _unit(centres + noise * np.float32(_SPREAD / np.sqrt(DIMENSIONS)))


def _texts(number: int) -> list[str]:
    rng = np.random.default_rng([_SEED, 2, number])
    lengths = rng.integers(*_WORDS, _BLOCK)
    words = _words()
    drawn = [words[rank] for rank in _ranks(rng, int(lengths.sum()))]
    ends = np.cumsum(lengths).tolist()
    starts = [0, *ends[:-1]]
    return [" ".join(drawn[start:end]) for start, end in zip(starts, ends, strict=True)]


def _ranks(rng: np.random.Generator, count: int) -> list[int]:
    ranks: list[int] = np.searchsorted(_cumulated(), rng.random(count)).tolist()
    return ranks


@functools.cache
def _centres() -> Matrix:
    return _unit(np.random.default_rng([_SEED, 0]).standard_normal((_CLUSTERS, DIMENSIONS)))


@functools.cache
def _cumulated() -> npt.NDArray[np.float64]:
    """Zipf–Mandelbrot: the word of rank r comes as often as 1 / (r + 2.7) ** 1.07."""
    weights = 1 / (np.arange(_VOCABULARY) + 3.7) ** 1.07
    cumulated: npt.NDArray[np.float64] = np.cumsum(weights / weights.sum())
    cumulated[-1] = 1.0
    return cumulated


@functools.cache
def _words() -> list[str]:
    """Pronounceable and distinct; common ones are short."""
    return [_word(rank) for rank in range(_VOCABULARY)]


def _word(rank: int) -> str:
    word = _SYLLABLES[rank % len(_SYLLABLES)]
    while rank := rank // len(_SYLLABLES):
        word += _SYLLABLES[(rank - 1) % len(_SYLLABLES)]
    return word


def _unit(rows: npt.NDArray[np.floating]) -> Matrix:
    unit: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
