from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragchat.chunking.chunk import Chunk
from ragchat.documents.document import Document
from ragchat.errors import IndexCorrupt, IndexLocked, StorageFailed
from ragchat.index.files import INDEX_FILE
from ragchat.index.lock import writer_lock
from ragchat.index.protocol import Index, Scope
from ragchat.index.store import SqliteIndex, open_index, replace_damaged_index
from tests.index.building import EMBEDDER, STAMP, chunks_of, contents, document, embed, put, source
from tests.index.contract import ANYWHERE, IndexContract, found


class TestSqliteIndex(IndexContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self._data = tmp_path / "data"

    def make(self) -> Iterator[Index]:
        index = open_index(self._data)
        yield index
        index.close()


class TestSqliteIndexInSegments(TestSqliteIndex):
    """The same where every document is sealed into a segment file at once, and segments are merged."""

    @pytest.fixture(autouse=True)
    def _sealed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ragchat.index.store.SEALED_AT", 1)
        monkeypatch.setattr("ragchat.index.store.SEALED_AT_LAST", 1)
        monkeypatch.setattr("ragchat.index.shelf.SEALED_AT", 1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def index(data: Path) -> Iterator[SqliteIndex]:
    index = open_index(data)
    index.begin(STAMP)
    yield index
    index.close()


@st.composite
def documents(draw: st.DrawFn) -> tuple[Document, list[Chunk]]:
    whole = document(draw(st.text(min_size=1)), draw(st.text()), title=draw(st.text()))
    ends = st.integers(0, len(whole.text))
    ranges = draw(st.lists(st.tuples(ends, ends).map(lambda pair: (min(pair), max(pair))), max_size=5))
    return whole, chunks_of(whole, *ranges)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=40)
@given(st.lists(documents(), max_size=4, unique_by=lambda pair: pair[0].name))
def test_what_is_stored_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, stored: list[tuple[Document, list[Chunk]]]
) -> None:
    data = tmp_path_factory.mktemp("round-trip")
    index = open_index(data)
    index.begin(STAMP)
    for whole, chunks in stored:
        index.replace(whole, source(whole.name, whole.text), chunks, embed(chunks).reshape(-1, 32))
    index.close()
    index = open_index(data)
    snapshot = index.snapshot()
    back = snapshot.chunks(
        [hit.chunk_id for hit in snapshot.dense(EMBEDDER.embed_question("x"), 99, ANYWHERE)]
    )
    key = repr
    assert sorted(back, key=key) == sorted((chunk for _, chunks in stored for chunk in chunks), key=key)
    assert {name: index.document_text(name) for name in index.sources()} == {
        whole.name: whole.text for whole, _ in stored
    }
    for chunk in back:
        text = index.document_text(chunk.document)
        assert text is not None
        assert text[chunk.start : chunk.end] == chunk.content
    index.close()


def test_everything_is_private_to_the_user(index: SqliteIndex, data: Path) -> None:
    put(index, "a.md", "words")
    with index.writing():
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in data.iterdir()}
    assert {"index.sqlite3", "index.sqlite3-wal", "index.sqlite3-shm", "index.lock"} <= modes.keys()
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


def test_an_unchanged_snapshot_is_not_loaded_again(index: SqliteIndex) -> None:
    put(index, "a.md", "words")
    snapshot = index.snapshot()
    index.write_value("threshold", "0.5")
    assert index.snapshot() is snapshot
    put(index, "b.md", "words")
    assert index.snapshot() is not snapshot


def test_a_change_by_another_process_is_seen(index: SqliteIndex, data: Path) -> None:
    put(index, "a.md", "words")
    assert index.snapshot().chunk_count == 1
    other = open_index(data)
    put(other, "b.md", "words")
    other.close()
    assert index.snapshot().chunk_count == 2


def test_readers_go_on_while_one_writes(index: SqliteIndex, data: Path) -> None:
    """Each document has two chunks that say the same number: a reader never sees half of one."""
    put(index, "a.md", "version 0", "again 0")
    stop, torn = threading.Event(), []

    def read() -> None:
        reader = open_index(data)
        while not stop.is_set():
            snapshot = reader.snapshot()
            texts = found(snapshot, snapshot.dense(EMBEDDER.embed_question("x"), 9, ANYWHERE))
            if len({text.split()[1] for text in texts}) != 1 or len(texts) != 2:
                torn.append(texts)
        reader.close()

    def read_shared() -> None:
        while not stop.is_set():
            snapshot = index.snapshot()
            texts = found(snapshot, snapshot.lexical(["version", "again"], 9, ANYWHERE))
            if len({text.split()[1] for text in texts}) != 1 or len(texts) != 2:
                torn.append(texts)

    threads = [threading.Thread(target=read), threading.Thread(target=read_shared)]
    for thread in threads:
        thread.start()
    for number in range(150):
        put(index, "a.md", f"version {number}", f"again {number}")
    stop.set()
    for thread in threads:
        thread.join()
    assert torn == []


def test_several_may_make_the_same_index_at_once(tmp_path: Path) -> None:
    troubles: list[Exception] = []

    def make(data: Path, start: threading.Barrier) -> None:
        start.wait()
        try:
            index = open_index(data)
            index.coverage()
            index.close()
        except Exception as error:
            troubles.append(error)

    for attempt in range(20):
        start = threading.Barrier(4)
        threads = [threading.Thread(target=make, args=(tmp_path / str(attempt), start)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert troubles == []


def test_one_writer_among_all_processes(index: SqliteIndex, data: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from ragchat.index.lock import writer_lock\n"
        "with writer_lock(Path(sys.argv[1])): print('locked', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdin is not None
    assert other.stdout.readline() == "locked\n"
    with pytest.raises(IndexLocked, match=f"process {other.pid}") as locked, index.writing():
        pass
    assert locked.value.hint
    other.kill()  # as if the power had gone: the lock falls with its process
    other.communicate()
    with index.writing(), pytest.raises(IndexLocked), writer_lock(data):
        pass


@pytest.mark.parametrize("kind", ["garbage", "truncated", "foreign", "overwritten", "directory"])
def test_a_damaged_file_is_named_and_can_be_made_again(data: Path, kind: str) -> None:
    index = open_index(data)
    index.begin(STAMP)
    for number in range(40):
        put(index, f"{number}.md", *[f"words {number} {line}" for line in range(20)])
    index.close()
    path = data / INDEX_FILE
    whole = path.read_bytes()
    match kind:
        case "garbage":
            path.write_bytes(os.urandom(5_000))
        case "truncated":
            path.write_bytes(whole[: len(whole) // 2])
        case "foreign":
            path.unlink()
            with sqlite3.connect(path) as connection:
                connection.execute("CREATE TABLE other (x)")
            connection.close()
        case "overwritten":
            path.write_bytes(whole[:4096] + os.urandom(len(whole) - 4096))
        case "directory":
            path.unlink()
            path.mkdir()

    def use() -> None:
        damaged = open_index(data)
        try:
            damaged.snapshot()
        finally:
            damaged.close()

    if kind == "directory":
        with pytest.raises(StorageFailed):
            use()
        return
    with pytest.raises(IndexCorrupt) as corrupt:
        use()
    assert str(path) in corrupt.value.message
    assert "ragchat index --rebuild" in corrupt.value.hint
    again = replace_damaged_index(data)
    assert again.stamp is None
    again.close()


def test_damage_that_opening_does_not_meet_is_found_by_a_check(index: SqliteIndex, data: Path) -> None:
    for number in range(40):
        put(index, f"{number}.md", *[f"words {number} {line}" for line in range(20)])
    index.check()
    index.close()
    path = data / INDEX_FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:8192] + os.urandom(len(whole) - 8192))
    damaged = open_index(data)
    with pytest.raises(IndexCorrupt, match="is damaged"):
        damaged.check()
    damaged.close()


def test_an_index_of_a_newer_ragchat_is_left_alone(index: SqliteIndex, data: Path) -> None:
    with sqlite3.connect(data / INDEX_FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(IndexCorrupt, match="newer ragchat"):
        open_index(data)


@pytest.mark.parametrize("vector", [np.ones(32, "<f4"), np.full(32, np.nan, "<f4"), np.ones(3, "<f4")])
def test_vectors_that_are_not_of_unit_length_are_never_searched(
    index: SqliteIndex, data: Path, vector: np.ndarray[tuple[int], np.dtype[np.float32]]
) -> None:
    put(index, "a.md", "words")
    with sqlite3.connect(data / INDEX_FILE) as connection:
        connection.execute("UPDATE recent SET vector = ?", (vector.tobytes(),))
        connection.execute("UPDATE state SET generation = generation + 1")
    connection.close()
    with pytest.raises(IndexCorrupt, match="vectors"):
        index.snapshot()


def test_a_full_disk_is_said_and_what_was_done_stays(index: SqliteIndex) -> None:
    put(index, "a.md", "words")
    pages = index._connection.execute("PRAGMA page_count").fetchone()[0]
    index._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(StorageFailed, match="no space is left"):
        put(index, "b.md", *[f"{number} {os.urandom(300).hex()}" for number in range(200)])
    snapshot = index.snapshot()
    assert found(snapshot, snapshot.lexical(["words"], 9, Scope())) == ["words"]
    put(index, "a.md", "other")


def test_a_data_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageFailed, match="cannot be written"):
        open_index(tmp_path / "file" / "data")


_COMES_AND_GOES = """
import sys
from pathlib import Path
from ragchat.index.store import open_index
index = open_index(Path(sys.argv[1]))
print(sorted(index.sources()))
index.close()
"""


def test_a_second_opening_here_does_not_cost_the_first_its_locks(index: SqliteIndex, data: Path) -> None:
    """POSIX drops all of a process's locks on a file when it closes any of its descriptors for it.

    Another program that ends would then take itself for the last one, and delete the log we write to.
    """

    def other_program() -> str:
        command = [sys.executable, "-c", _COMES_AND_GOES, str(data)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    put(index, "a.md", "words")
    second = open_index(data)
    assert other_program() == "['a.md']"
    put(index, "b.md", "more words")
    assert sorted(second.sources()) == ["a.md", "b.md"]
    assert other_program() == "['a.md', 'b.md']"
    second.close()


def test_a_file_that_can_only_be_read_still_answers(
    index: SqliteIndex, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(index, "a.md", "words")
    index.close()
    before = sorted(path.name for path in data.iterdir())

    monkeypatch.setattr("ragchat.index.database.os.access", lambda path, mode: mode != os.W_OK)
    reader = open_index(data)
    assert reader.snapshot().document_frequency("words") == 1
    with pytest.raises(StorageFailed):
        put(reader, "b.md", "words")
    reader.close()
    assert sorted(path.name for path in data.iterdir()) == before


def test_equal_indexes_compare_equal(tmp_path: Path) -> None:
    indexes = []
    for order in (["a.md", "b.md"], ["b.md", "a.md"]):
        index = open_index(tmp_path / order[0])
        index.begin(STAMP)
        for name in order:
            put(index, name, f"words of {name}")
        indexes.append(index)
    first, second = indexes
    assert contents(first) == contents(second)
    put(second, "a.md", "other words")
    assert contents(first) != contents(second)
    for index in indexes:
        index.close()
