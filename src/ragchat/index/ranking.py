"""The best of what several segments propose, and which comes first of those that are equally good.

Equals stand in the order of their documents' names, then of their places in the document. An id would say
which was written first: in a folder that was edited another one than in a fresh index of the same notes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int64]
Values = npt.NDArray[np.float64]

DocumentOrder = Callable[[Ids], npt.NDArray[Any]]
"""From ids of documents to numbers in the order of their names."""


def as_numbered(documents: Ids) -> Ids:
    """The order of ids, where nobody knows names."""
    return documents


class Best:
    """The `limit` best rows so far, and every other that is as good as the last of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: Values = np.zeros(0, dtype=np.float64)
        self._ids: Ids = np.zeros(0, dtype=np.int64)
        self._documents: Ids = np.zeros(0, dtype=np.int64)

    @property
    def floor(self) -> float:
        """What a row must reach to be among them; -inf as long as anything is."""
        if len(self._values) < self._limit:
            return -np.inf
        return float(np.partition(self._values, -self._limit)[-self._limit])

    def add(self, values: Values, ids: Ids, documents: Ids) -> None:
        """Rows of one segment: their values, and the ids of their chunks and documents."""
        self._values = np.concatenate([self._values, values])
        self._ids = np.concatenate([self._ids, ids])
        self._documents = np.concatenate([self._documents, documents])
        if len(self._values) > self._limit:
            stays = self._values >= self.floor
            self._values, self._ids = self._values[stays], self._ids[stays]
            self._documents = self._documents[stays]

    def in_order(self, document_order: DocumentOrder) -> list[tuple[float, int]]:
        """(value, chunk id), best first. The ids of a document's chunks are in the order of their places."""
        order = np.lexsort((self._ids, -self._values))
        descending = self._values[order]
        if (descending[1:] == descending[:-1])[: self._limit].any():
            order = np.lexsort((self._ids, document_order(self._documents), -self._values))
        order = order[: self._limit]
        return list(zip(self._values[order].tolist(), self._ids[order].tolist(), strict=True))
