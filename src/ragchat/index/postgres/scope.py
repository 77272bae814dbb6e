"""Where to search, as a condition in SQL."""

from __future__ import annotations

from ragchat.index.protocol import Scope


def condition_of(scope: Scope, schema: str, column: str) -> tuple[str, dict[str, object]]:
    """A condition on a column of chunk ids, and its parameters; nothing for everywhere."""
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
        f"{column} IN (SELECT c.id FROM {schema}.chunks c "
        f"JOIN {schema}.documents d ON d.id = c.document_id WHERE {' AND '.join(conditions)})",
        parameters,
    )
