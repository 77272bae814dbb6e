"""Where to search, as a condition in SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragchat.index.protocol import Scope

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

Condition = tuple[str, dict[str, object]]
"""Of SQL, with its parameters; "" for everywhere."""


def condition_of(scope: Scope, schema: str, column: str) -> Condition:
    """On a column of chunk ids: asked of each row that comes up."""
    chunks, parameters = _chunks_in(scope, schema)
    return (f"{column} IN (SELECT c.id {chunks})", parameters) if chunks else ("", {})


def listed(scope: Scope, schema: str, column: str) -> Condition:
    """The same for few chunks: they are listed first, and their rows then looked up."""
    chunks, parameters = _chunks_in(scope, schema)
    return (f"{column} = ANY (ARRAY(SELECT c.id {chunks}))", parameters) if chunks else ("", {})


def count(connection: Connection, scope: Scope, schema: str) -> int:
    """How many chunks lie in a part of the library."""
    chunks, parameters = _chunks_in(scope, schema)
    row = connection.execute(f"SELECT count(*) {chunks}", parameters).fetchone()
    return 0 if row is None else int(row[0])


def _chunks_in(scope: Scope, schema: str) -> Condition:
    conditions, parameters = [], dict[str, object]()
    if scope.prefix:
        conditions.append("starts_with(d.name, %(prefix)s)")
        parameters["prefix"] = scope.prefix
    if scope.documents is not None:
        conditions.append('d.name = ANY (%(documents)s::text[] COLLATE "C")')
        parameters["documents"] = sorted(scope.documents)
    if not conditions:
        return "", {}
    return (
        f"FROM {schema}.chunks c JOIN {schema}.documents d ON d.id = c.document_id"
        f" WHERE {' AND '.join(conditions)}",
        parameters,
    )
