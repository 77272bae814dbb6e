"""Connections to PostgreSQL by libpq's own means, and what its errors mean to the user.

Passwords and certificates come from where libpq looks for them (service files, .pgpass, PGSSLMODE): never
from our settings, so that none stands in a file of ours, in a log or on the screen.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ragchat.errors import (
    IndexCorrupt,
    IndexLocked,
    IndexMissing,
    RagchatError,
    SetupError,
    StorageFailed,
    UsageError,
)

if TYPE_CHECKING:
    import psycopg

    Connection = psycopg.Connection[tuple[Any, ...]]

CONNECT_SECONDS = 10


def described(url: str) -> str:
    """The database for a person: user, host, port, name; nothing that could be secret."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    if "service" in parts and "host" not in parts:
        return f"postgresql service {parts['service']}"
    user = f"{parts['user']}@" if parts.get("user") else ""
    # Several hosts without ports give a port of commas.
    ports = str(parts.get("port") or "").strip(",")
    host = parts.get("host") or parts.get("hostaddr") or "local"
    return f"postgresql://{user}{host}{':' if ports else ''}{ports}/{parts.get('dbname', '')}"


def is_local(url: str) -> bool:
    """Whether the notes stay on this machine: a socket, or a loopback address."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(url)
    if "service" in parts:
        return False  # only libpq knows where a service lies
    hosts = str(parts.get("hostaddr") or parts.get("host") or "").split(",")
    return all(host in {"", "localhost", "::1"} or host.startswith(("/", "127.")) for host in hosts)


def connect(url: str) -> Connection:
    """A connection in autocommit.

    Raises UsageError for what is no address, SetupError without the package, StorageFailed.
    """
    try:
        import psycopg
    except ImportError as error:
        raise SetupError(
            "a shared library needs the package psycopg, which is not installed",
            hint="pip install 'ragchat-tui[postgres]'",
        ) from error
    try:
        psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error as error:
        raise UsageError(
            "index.backend is no PostgreSQL address",
            hint='write it as "postgresql://user@host:5432/database"',
        ) from error
    with explained(url):
        return psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            application_name="ragchat",
            # Prepared statements would pin a plan made for other settings of the planner.
            prepare_threshold=None,
        )


def usable(connection: Connection | None, url: str) -> Connection:
    """This connection, or a new one where the server was restarted since: what was committed is there.

    Raises StorageFailed.
    """
    import psycopg

    if connection is not None and not connection.closed:
        try:
            connection.execute("SELECT")
        except psycopg.OperationalError:
            connection.close()
        else:
            return connection
    return connect(url)


@contextmanager
def explained(url: str) -> Iterator[None]:
    """Turn PostgreSQL's errors into ours, each with the next thing to do."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        if isinstance(error, psycopg.ProgrammingError) and not isinstance(error, _permission_errors()):
            raise  # ours to mend, not the user's
        raise _explanation(error, described(url)) from error


def _permission_errors() -> tuple[type[Exception], ...]:
    from psycopg import errors

    return (
        errors.InsufficientPrivilege,
        errors.InvalidCatalogName,
        errors.UndefinedTable,
        errors.InvalidSchemaName,
    )


def _explanation(error: Exception, where: str) -> RagchatError:
    from psycopg import errors

    said = " ".join(str(error).split())
    match error:
        case errors.InsufficientPrivilege():
            return StorageFailed(
                f"{where} does not allow this: {said}",
                hint="ask whoever keeps the library for the right (see docs/shared-library.md)",
            )
        case errors.UndefinedTable() | errors.InvalidSchemaName():
            return IndexMissing(
                f"{where} changed meanwhile: the library was rebuilt or removed", hint="ask again"
            )
        case errors.DiskFull() | errors.OutOfMemory():
            return StorageFailed(
                f"{where} has no space left", hint="what was committed is kept; make room there"
            )
        case errors.LockNotAvailable() | errors.DeadlockDetected() | errors.QueryCanceled():
            return IndexLocked(f"{where} is busy: {said}", hint="wait a moment, then try again")
        case errors.DataCorrupted() | errors.IndexCorrupted():
            return IndexCorrupt(
                f"{where} reports damage: {said}", hint="restore it, or ragchat index --rebuild"
            )
        case _:
            return StorageFailed(
                f"{where} does not answer: {said}",
                hint="check that the server runs and lets you in: ragchat doctor",
            )
