"""What all stamps of one library share: which is in use, which is being built, who may read.

Every function works inside the caller's transaction.
"""

from __future__ import annotations

import dataclasses
import json
from contextlib import suppress
from typing import TYPE_CHECKING

from ragchat.embedding.embedder import EmbedderStamp
from ragchat.errors import IndexMissing
from ragchat.index.postgres.schema import create_stamp_schema, drop_stamp_schema, grant, schema_of
from ragchat.index.protocol import IndexStamp

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

_PATIENCE_MS = 200
"""What is waited for a lock on tables that somebody may still read."""


def number(connection: Connection, query: str, *parameters: object) -> int:
    """The one number that the query answers; 0 for no row."""
    row = connection.execute(query, parameters).fetchone()
    return 0 if row is None else int(row[0])


def library_id(connection: Connection, name: str) -> int:
    """The library of this name, made when there is none."""
    query = "SELECT id FROM ragchat.libraries WHERE name = %s"
    found = number(connection, query, name)
    if not found:
        connection.execute("INSERT INTO ragchat.libraries (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,))
        found = number(connection, query, name)
    return found


def audience_id(connection: Connection, role: str) -> int:
    """The number under which documents of this audience are kept; "" is everybody."""
    query = "SELECT id FROM ragchat.audiences WHERE role = %s"
    found = connection.execute(query, (role,)).fetchone()
    if found is None:
        connection.execute("INSERT INTO ragchat.audiences (role) VALUES (%s) ON CONFLICT DO NOTHING", (role,))
        return number(connection, query, role)
    return int(found[0])


def read_state(connection: Connection, library: int) -> tuple[int | None, int | None]:
    """Numbers of the stamp in use and of the one being built."""
    row = connection.execute(
        "SELECT active, building FROM ragchat.libraries WHERE id = %s", (library,)
    ).fetchone()
    return (None, None) if row is None else (row[0], row[1])


def read_stamp(connection: Connection, stamp_id: int) -> IndexStamp:
    """The stamp of this number. Raises IndexMissing where it was dropped meanwhile."""
    row = connection.execute("SELECT stamp FROM ragchat.stamps WHERE id = %s", (stamp_id,)).fetchone()
    if row is None:
        raise IndexMissing("the library was rebuilt meanwhile", hint="ask again")
    fields = json.loads(row[0])
    return IndexStamp(embedder=EmbedderStamp(**fields["embedder"]), chunker=fields["chunker"])


def begin(connection: Connection, library: int, stamp: IndexStamp) -> int:
    """Write under this stamp, with its tables when there are none; the number of the stamp.

    It is the active one at once where there are no documents of another, else the one being built.
    """
    text = json.dumps(dataclasses.asdict(stamp), sort_keys=True)
    # Two machines that begin at once: the second finds the tables made.
    connection.execute("SELECT FROM ragchat.libraries WHERE id = %s FOR UPDATE", (library,))
    made = connection.execute(
        "INSERT INTO ragchat.stamps (library, stamp) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING id",
        (library, text),
    ).fetchone()
    if made is not None:
        create_stamp_schema(connection, made[0], stamp.embedder.dimensions)
        for role in readers(connection, library):
            grant(connection, made[0], role)
    wanted = number(
        connection, "SELECT id FROM ragchat.stamps WHERE library = %s AND stamp = %s", library, text
    )
    active, _ = read_state(connection, library)
    if active not in (None, wanted) and has_documents(connection, active):
        connection.execute("UPDATE ragchat.libraries SET building = %s WHERE id = %s", (wanted, library))
    else:
        connection.execute(
            "UPDATE ragchat.libraries SET active = %s, building = NULL WHERE id = %s", (wanted, library)
        )
    return wanted


def switch(connection: Connection, library: int, built: int) -> None:
    """Search what was built."""
    connection.execute(
        "UPDATE ragchat.libraries SET active = %s, building = NULL WHERE id = %s", (built, library)
    )


def collect_garbage(connection: Connection, library: int) -> None:
    """Drop the tables of every stamp that is neither in use nor being built.

    Somebody who still reads them keeps them: they go at the end of a later run.
    """
    from psycopg import errors

    known = read_state(connection, library)
    for stamp_id in stamps(connection, library):
        if stamp_id not in known:
            with suppress(errors.LockNotAvailable), connection.transaction():
                connection.execute("SELECT set_config('lock_timeout', %s, true)", (f"{_PATIENCE_MS}ms",))
                drop_stamp_schema(connection, stamp_id)
                connection.execute("DELETE FROM ragchat.stamps WHERE id = %s", (stamp_id,))


def stamps(connection: Connection, library: int) -> list[int]:
    """Numbers of all stamps that have tables."""
    found = connection.execute("SELECT id FROM ragchat.stamps WHERE library = %s ORDER BY id", (library,))
    return [row[0] for row in found]


def has_documents(connection: Connection, stamp_id: int) -> bool:
    """Whether any document can be searched under this stamp."""
    return connection.execute(f"SELECT 1 FROM {schema_of(stamp_id)}.documents LIMIT 1").fetchone() is not None


def readers(connection: Connection, library: int) -> list[str]:
    """Roles that the library is shared with."""
    found = connection.execute(
        "SELECT role FROM ragchat.readers WHERE library = %s ORDER BY role", (library,)
    )
    return [row[0] for row in found]


def share(connection: Connection, library: int, role: str) -> None:
    """Let a database role read, as far as the documents' audiences allow."""
    connection.execute("INSERT INTO ragchat.readers VALUES (%s, %s) ON CONFLICT DO NOTHING", (library, role))
    for stamp_id in stamps(connection, library):
        grant(connection, stamp_id, role)


def read_value(connection: Connection, library: int, key: str) -> str | None:
    """A small value, as kept for those who may see the same documents."""
    row = connection.execute(
        'SELECT value FROM ragchat."values" WHERE library = %s AND key = %s'
        " AND audiences = ragchat.my_audiences()::text",
        (library, key),
    ).fetchone()
    return None if row is None else str(json.loads(row[0]))


def write_value(connection: Connection, library: int, key: str, value: str) -> None:
    """Keep a small value for those who may see the same documents."""
    connection.execute(
        'INSERT INTO ragchat."values" (library, key, value) VALUES (%s, %s, %s)'
        " ON CONFLICT (library, audiences, key) DO UPDATE SET value = excluded.value",
        (library, key, json.dumps(value)),
    )


def describe(connection: Connection, library: int) -> str:
    """The server, its pgvector, the size of the database and the readers, in one line."""
    row = connection.execute(
        "SELECT current_setting('server_version'),"
        " (SELECT extversion FROM pg_extension WHERE extname = 'vector'),"
        " pg_size_pretty(pg_database_size(current_database()))"
    ).fetchone()
    version, vector, size = row or ("unknown", "unknown", "unknown")
    shared = ", ".join(readers(connection, library)) or "nobody else"
    return f"PostgreSQL {version.split()[0]}, pgvector {vector}, {size}, shared with {shared}"
