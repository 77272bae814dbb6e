"""Text to token ids, also for a vocabulary so large that reading it takes longer than answering.

XLM-R's has a quarter of a million pieces: the library takes a second to read them and 250 MB to keep them.
But a text is cut into pieces that occur in it, and those are few. So at first each text gets a tokenizer of
its own, made of them alone: they are looked up in a sorted file, which is mapped and not read. It is the same
library with the same rules, and gives the same tokens. When much text is to be read, the whole one is opened.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragchat.embedding.exported import PIECES_FILE, SCORES_FILE, TOKENIZER_FILE
from ragchat.embedding.xlmr import SPECIAL, xlmr_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Reading the whole vocabulary takes as long as these take without it.
_CHARACTERS_UNTIL_WHOLE = 40_000
_LONGEST_PIECE = 16
_SCORE = np.dtype([("token", "<i4"), ("score", "<f4")])


class TextTokenizer:
    """The tokenizer of an exported model. Neither cuts nor pads. Safe to call from several threads."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / TOKENIZER_FILE
        self._characters_left = _CHARACTERS_UNTIL_WHOLE
        self._opening = threading.Lock()
        self._encode: Callable[[str], list[int]]
        if (folder / PIECES_FILE).exists():
            self._encode = FewPieces(folder).ids
        else:
            self._characters_left = 0
            self._encode = _encoder(self._file)

    def ids(self, text: str) -> list[int]:
        """Token ids of a text without lone surrogates, special tokens included."""
        if self._characters_left > 0:
            with self._opening:
                self._characters_left -= len(text)
                if self._characters_left <= 0:
                    self._encode = _encoder(self._file)
        return self._encode(text)


class FewPieces:
    """XLM-R's tokenizer that knows, of all its pieces, those that occur in a text."""

    def __init__(self, folder: Path) -> None:
        self._pieces: npt.NDArray[np.bytes_] = np.load(folder / PIECES_FILE, mmap_mode="r")
        self._scores = np.load(folder / SCORES_FILE, mmap_mode="r")
        # The penalty of an unknown letter is measured from the lowest score of all.
        lowest = int(np.argmin(self._scores["score"]))
        self._always = np.union1d(self._places(np.array(SPECIAL, dtype="S")), [lowest])
        self._cutter = xlmr_tokenizer([self._piece(at) for at in self._always])

    def ids(self, text: str) -> list[int]:
        """As the tokenizer with all pieces gives them."""
        found = np.union1d(self._always, self._places(self._parts(text)))
        tokens = self._scores["token"][found]
        return [int(tokens[at]) for at in xlmr_tokenizer([self._piece(at) for at in found]).encode(text).ids]

    def _parts(self, text: str) -> npt.NDArray[np.bytes_]:
        """Whatever in the text may be a piece: each stretch of up to sixteen letters of a word."""
        assert self._cutter.normalizer is not None
        assert self._cutter.pre_tokenizer is not None
        words = self._cutter.pre_tokenizer.pre_tokenize_str(self._cutter.normalizer.normalize_str(text))
        parts = {
            word[start:end].encode()
            for word, _ in words
            for start in range(len(word))
            for end in range(start + 1, min(start + _LONGEST_PIECE, len(word)) + 1)
        }
        width = self._pieces.dtype.itemsize  # what is longer would be cut to it, and might be found
        return np.array([part for part in parts if len(part) <= width], dtype=self._pieces.dtype)

    def _places(self, parts: npt.NDArray[np.bytes_]) -> npt.NDArray[np.int64]:
        """Where those of them stand that are pieces."""
        places = np.minimum(np.searchsorted(self._pieces, parts), len(self._pieces) - 1)
        found: npt.NDArray[np.int64] = places[self._pieces[places] == parts]
        return found

    def _piece(self, at: int) -> tuple[str, float]:
        return bytes(self._pieces[at]).decode(), float(self._scores["score"][at])


def write_pieces(pieces: Sequence[tuple[str, float]], folder: Path) -> None:
    """Write a vocabulary for `FewPieces`, 14 MB, sorted by the pieces' bytes. Raises OSError."""
    encoded = np.array([text.encode() for text, _ in pieces])
    order = np.argsort(encoded, kind="stable")
    scores = np.zeros(len(pieces), dtype=_SCORE)
    scores["token"] = order
    scores["score"] = np.array([score for _, score in pieces], dtype=np.float32)[order]
    np.save(folder / PIECES_FILE, encoded[order])
    np.save(folder / SCORES_FILE, scores)


def _encoder(file: Path) -> Callable[[str], list[int]]:
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(file))
    # The file may ask for truncation and padding: neither may happen silently.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    # One text at a time: encoding a list starts the tokenizer's own threads on every core.
    return lambda text: list(tokenizer.encode(text).ids)
