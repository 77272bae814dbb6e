"""The nearest vectors: pgvector's HNSW proposes where there are many, else every vector is compared.

What either proposes is judged on distances computed from the fp32 vectors, as in the local index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ragchat.embedding.embedder import Matrix, Vector
from ragchat.index.postgres.rows import vector_text

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

SEARCH_WIDTH = 200
"""hnsw.ef_search: recall at 25 is 0.99 with 100 at 100 k chunks."""

MOST_PROPOSED = 500
"""Who asks for more wants everything; hnsw.ef_search goes up to 1000."""

_SLACK = 8
"""pgvector sums in float32: so many more than asked for, and all that tie with them, hold the exact first."""

_BIG_ENDIAN = np.dtype(">f4")
_HEAD = 4
"""Bytes before the numbers in pgvector's binary form: dimensions and a reserved field."""


def propose(
    connection: Connection,
    schema: str,
    question: Vector,
    limit: int,
    condition: str,
    parameters: dict[str, object],
    *,
    index: bool,
) -> tuple[list[int], Matrix]:
    """A few more chunks than `limit`, among them the nearest, and their vectors; in no order.

    index: HNSW, which may miss some; else every vector that the condition admits.
    condition: over `chunk_id`, or nothing.
    """
    for name, value in {
        "enable_indexscan": "on" if index else "off",
        "enable_seqscan": "off" if index else "on",
        "hnsw.ef_search": str(min(1000, max(SEARCH_WIDTH, 2 * limit))),
        "hnsw.iterative_scan": "strict_order",
    }.items():
        connection.execute("SELECT set_config(%s, %s, true)", (name, value))
    table = f"{schema}.vectors"
    where = f" WHERE {condition}" if condition else ""
    # The vectors are sent of the few that come first, not of every row that is sorted.
    rows = connection.execute(
        f"SELECT chunk_id, vector_send(vector) FROM {table} WHERE chunk_id = ANY (ARRAY("
        f"SELECT chunk_id FROM {table}{where} ORDER BY vector <#> %(question)s::vector"
        " FETCH FIRST (%(limit)s) ROWS WITH TIES))",
        {"question": vector_text(question), "limit": limit + _SLACK, **parameters},
        binary=True,
    ).fetchall()
    for name in ("enable_indexscan", "enable_seqscan"):
        connection.execute("SELECT set_config(%s, 'on', true)", (name,))
    return [int(row[0]) for row in rows], matrix_of([bytes(row[1]) for row in rows], len(question))


def matrix_of(blobs: Sequence[bytes], dimensions: int) -> Matrix:
    """Vectors in pgvector's binary form as rows."""
    numbers = b"".join(blob[_HEAD:] for blob in blobs)
    rows: npt.NDArray[Any] = np.frombuffer(numbers, dtype=_BIG_ENDIAN).reshape(len(blobs), dimensions)
    matrix: Matrix = rows.astype(np.float32)
    return matrix
