"""Questions to the index's tables that every reader of them asks in the same way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from ragchat.errors import IndexCorrupt

REBUILD = "ragchat index --rebuild"

_PARAMETERS = 500
"""SQLite takes a limited number of parameters in one statement."""


def read_number(connection: sqlite3.Connection, query: str, *parameters: object) -> int:
    """The one number that the query answers. Raises IndexCorrupt when there is none."""
    row = connection.execute(query, parameters).fetchone()
    if row is None:
        raise IndexCorrupt("the index lacks its own state", hint=REBUILD)
    return int(row[0])


def select(
    connection: sqlite3.Connection,
    query: str,
    values: Sequence[object],
    *,
    before: Iterable[object] = (),
    after: str = "",
) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Rows of `query (…) after`, asked for in as many statements as the values need."""
    for start in range(0, len(values), _PARAMETERS):
        some = values[start : start + _PARAMETERS]
        marks = ", ".join("?" * len(some))
        yield from connection.execute(f"{query} ({marks}) {after}", (*before, *some))
