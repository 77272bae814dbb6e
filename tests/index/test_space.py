"""What the index no longer needs is given back to the disk."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragchat.index.files import DAMAGED_DIR, INDEX_FILE
from ragchat.index.space import INCREMENTAL, bytes_on_disk, give_back
from ragchat.index.store import SqliteIndex, open_index
from tests.index.building import STAMP, contents, put
from tests.index.contract import everything


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragchat.index.store.SEALED_AT", 10**6)
    monkeypatch.setattr("ragchat.index.store.SEALED_AT_LAST", 1)
    monkeypatch.setattr("ragchat.index.space._STEP_PAGES", 4)
    monkeypatch.setattr("ragchat.index.space._KEPT_PAGES", 8)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def index(data: Path) -> Iterator[SqliteIndex]:
    index = open_index(data)
    index.begin(STAMP)
    yield index
    index.close()


def fill(index: SqliteIndex, count: int = 60) -> None:
    for number in range(count):
        put(
            index,
            f"{number}.md",
            *(f"note {number} part {part} " + "word " * 30 for part in range(6)),
            tokens=True,
        )


def pragma(data: Path, name: str) -> int:
    connection = sqlite3.connect(data / INDEX_FILE)
    found = connection.execute(f"PRAGMA {name}").fetchone()[0]
    connection.close()
    return int(found)


def sizes(data: Path) -> tuple[int, int]:
    log = data / f"{INDEX_FILE}-wal"
    return (data / INDEX_FILE).stat().st_size, log.stat().st_size if log.exists() else 0


def test_sealing_makes_the_file_smaller(index: SqliteIndex, data: Path) -> None:
    fill(index)
    before, pages = contents(index), pragma(data, "page_count")
    index.finish()
    assert pragma(data, "page_count") < pages / 3
    assert pragma(data, "freelist_count") <= 8
    assert sizes(data) == (pragma(data, "page_count") * pragma(data, "page_size"), 0)
    assert contents(index) == before


def test_a_file_of_an_earlier_ragchat_is_cut_once(data: Path) -> None:
    data.mkdir()
    connection = sqlite3.connect(data / INDEX_FILE)
    connection.execute("PRAGMA auto_vacuum = NONE")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    index = open_index(data)
    assert pragma(data, "auto_vacuum") == 0
    index.begin(STAMP)
    fill(index)
    before, pages = contents(index), pragma(data, "page_count")
    index.finish()
    assert pragma(data, "auto_vacuum") == INCREMENTAL
    assert pragma(data, "page_count") < pages / 3
    assert contents(index) == before
    index.close()


def test_a_reader_of_an_older_state_goes_on(index: SqliteIndex, data: Path) -> None:
    fill(index)
    held = index.snapshot()
    before = everything(held)
    index.finish()
    assert everything(held) == before
    assert everything(index.snapshot()) == before
    held.close()
    index.finish()
    assert sizes(data) == (pragma(data, "page_count") * pragma(data, "page_size"), 0)


class Full:
    """A connection on a disk without any room."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: str) -> sqlite3.Cursor:
        if statement.startswith(("VACUUM", "PRAGMA wal_checkpoint")):
            raise sqlite3.OperationalError("database or disk is full")
        return self._connection.execute(statement)

    def executescript(self, script: str) -> None:
        raise sqlite3.OperationalError("database or disk is full")


@pytest.mark.parametrize("kind", ["NONE", "INCREMENTAL"])
def test_on_a_full_disk_it_is_left_for_another_time(tmp_path: Path, kind: str) -> None:
    connection = sqlite3.connect(tmp_path / "file", isolation_level=None)
    connection.execute(f"PRAGMA auto_vacuum = {kind}")
    connection.execute("CREATE TABLE large (blob)")
    connection.executemany("INSERT INTO large VALUES (?)", [(bytes(9000),)] * 40)
    connection.execute("DELETE FROM large")
    free = connection.execute("PRAGMA freelist_count").fetchone()[0]
    give_back(Full(connection))  # type: ignore[arg-type]
    assert connection.execute("PRAGMA freelist_count").fetchone()[0] == free > 8
    give_back(connection)
    assert connection.execute("PRAGMA freelist_count").fetchone()[0] <= 8
    assert connection.execute("PRAGMA busy_timeout").fetchone()[0] == 10_000
    connection.close()


def test_the_size_counts_the_log_the_segments_and_what_was_put_aside(index: SqliteIndex, data: Path) -> None:
    fill(index, 3)
    index.finish()
    (data / DAMAGED_DIR / "segments").mkdir(parents=True)
    (data / DAMAGED_DIR / "segments" / "old.segment").write_bytes(bytes(1000))
    (data / "conversation.jsonl").write_bytes(bytes(500))
    every = sum(path.stat().st_size for path in data.rglob("*") if path.is_file())
    assert bytes_on_disk(data) == every - 500
