"""The segment files beside the database: sealed, merged, collected, damaged, on a disk that is full."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ragchat.errors import IndexCorrupt, StorageFailed
from ragchat.index.files import DAMAGED_DIR, INDEX_FILE, SEGMENTS_DIR
from ragchat.index.segment import Part
from ragchat.index.shelf import Entry, Shelf, neighbours_of_a_size, what_a_run_left
from ragchat.index.store import SqliteIndex, open_index, replace_damaged_index
from tests.index.building import EMBEDDER, STAMP, put
from tests.index.contract import ANYWHERE, everything, found


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragchat.index.store.SEALED_AT", 4)
    monkeypatch.setattr("ragchat.index.store.SEALED_AT_LAST", 1)
    monkeypatch.setattr("ragchat.index.shelf.SEALED_AT", 4)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def index(data: Path) -> Iterator[SqliteIndex]:
    index = open_index(data)
    index.begin(STAMP)
    yield index
    index.close()


def fill(index: SqliteIndex, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        put(index, f"{number}.md", f"note {number} about {number % 7}", "and its end", tokens=True)


def files(data: Path) -> set[str]:
    return {path.name for path in (data / SEGMENTS_DIR).glob("*")}


def named(data: Path) -> set[str]:
    with sqlite3.connect(data / INDEX_FILE) as connection:
        names = {row[0] for row in connection.execute("SELECT file FROM segments")}
    connection.close()
    return names


def test_a_vector_lies_on_the_disk_once(index: SqliteIndex, data: Path) -> None:
    fill(index, 30)
    index.finish()
    assert files(data) == named(data)
    with sqlite3.connect(data / INDEX_FILE) as connection:
        assert connection.execute("SELECT count(*) FROM recent").fetchone() == (0,)
        assert connection.execute("SELECT sum(chunks) FROM segments").fetchone() == (60,)
    connection.close()


def test_the_files_are_private_to_the_user(index: SqliteIndex, data: Path) -> None:
    fill(index, 10)
    folder = data / SEGMENTS_DIR
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}


def test_segments_stay_few_while_many_documents_come(index: SqliteIndex, data: Path) -> None:
    counts = []
    for number in range(260):
        fill(index, 1, number)
        counts.append(len(files(data)))
    assert max(counts) <= 3 * 8  # so many tiers as log₈ of the seals, seven in each and one on the way
    index.finish()
    assert len(files(data)) <= 4  # each four times as large as its followers


def test_what_is_dead_leaves_the_disk(index: SqliteIndex, data: Path) -> None:
    fill(index, 40)
    index.finish()
    before = sum(path.stat().st_size for path in (data / SEGMENTS_DIR).iterdir())
    for number in range(30):
        index.remove(f"{number}.md")
    index.finish()
    assert sum(path.stat().st_size for path in (data / SEGMENTS_DIR).iterdir()) < before / 2
    with sqlite3.connect(data / INDEX_FILE) as connection:
        assert connection.execute("SELECT count(*) FROM dead").fetchone() == (0,)
    connection.close()
    assert index.chunk_count() == index.snapshot().chunk_count == 20


def test_everything_removed_leaves_no_file(index: SqliteIndex, data: Path) -> None:
    fill(index, 6)
    for number in range(6):
        index.remove(f"{number}.md")
    index.finish()
    assert files(data) == set()
    assert index.snapshot().chunk_count == 0


def test_files_that_no_manifest_names_are_garbage(index: SqliteIndex, data: Path) -> None:
    fill(index, 6)
    (data / SEGMENTS_DIR / "half-written.segment").write_bytes(b"half")
    index.finish()
    assert files(data) == named(data)


def test_a_snapshot_goes_on_when_its_files_are_merged_away(index: SqliteIndex, data: Path) -> None:
    fill(index, 20)
    held, mapped = index.snapshot(), files(data)
    before = everything(held)
    other = open_index(data)
    for number in range(0, 20, 2):
        other.remove(f"{number}.md")
    fill(other, 30, first=100)
    other.finish()
    assert not files(data) & mapped
    assert everything(held) == before
    assert everything(index.snapshot()) == everything(other.snapshot()) != before
    other.close()


@pytest.mark.parametrize("seed", range(4))
def test_equals_stand_in_the_same_order_however_the_index_came_about(
    index: SqliteIndex, tmp_path: Path, seed: int
) -> None:
    """Many notes say the same; one index has them in a row, the other after edits, deletions and moves."""
    chance = np.random.default_rng(seed)
    texts = {f"{number}.md": [f"note {number % 3}", f"about {number % 2}"] for number in range(40)}
    names = list(texts)
    for name in chance.permutation(names):
        put(index, name, "an earlier version", tokens=True)
        if chance.random() < 0.2:
            index.finish()
    for name in [*chance.permutation(names), *chance.permutation(names)[:9]]:
        put(index, name, *texts[name], tokens=True)
    for name in names[::5]:
        index.remove(name)
    fresh = open_index(tmp_path / "fresh")
    fresh.begin(STAMP)
    for name in sorted(set(names) - set(names[::5])):
        put(fresh, name, *texts[name], tokens=True)
    edited, anew = index.snapshot(), fresh.snapshot()
    assert everything(edited) == everything(anew)
    for limit in (1, 3, 8, 20):
        for question in ("note 1", "about 0", "note"):
            tokens, vector = question.split(), EMBEDDER.embed_question(question)
            held = [
                (
                    found(snapshot, snapshot.dense(vector, limit, ANYWHERE)),
                    [
                        chunk.document
                        for chunk in snapshot.chunks(snapshot.containing("note", ANYWHERE, limit))
                    ],
                    [
                        (chunk.document, chunk.start)
                        for hits in (
                            snapshot.lexical(tokens, limit, ANYWHERE),
                            *snapshot.dense_of_each(vector[np.newaxis], limit),
                        )
                        for chunk in snapshot.chunks([hit.chunk_id for hit in hits])
                    ],
                )
                for snapshot in (edited, anew)
            ]
            assert held[0] == held[1]
    fresh.close()


def test_readers_go_on_while_segments_are_sealed_and_merged(index: SqliteIndex, data: Path) -> None:
    """Each document says one number in all of its chunks: a reader never sees half of one, nor too many."""
    fill(index, 3)
    for name in "abc":
        put(index, f"{name}.md", "version 0", "again 0")
    stop, torn = threading.Event(), []

    def read() -> None:
        reader = open_index(data)
        while not stop.is_set():
            snapshot = reader.snapshot()
            chunks = snapshot.chunks(
                [hit.chunk_id for hit in snapshot.lexical(["version", "again"], 99, ANYWHERE)]
            )
            said = {(chunk.document, chunk.content.split()[1]) for chunk in chunks}
            if len(chunks) != 6 or len(said) != 3:
                torn.append(said)
        reader.close()

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for number in range(60):
        put(index, f"{'abc'[number % 3]}.md", f"version {number}", f"again {number}")
        if number % 10 == 9:
            index.finish()
    stop.set()
    for thread in threads:
        thread.join()
    assert torn == []


def interrupt(monkeypatch: pytest.MonkeyPatch, action: list[str], other: SqliteIndex) -> None:
    """Another program acts between the writing of a file and the transaction that names it."""
    write = Shelf._write

    def writing(self: Shelf, parts: list[Part]) -> object:
        written = write(self, parts)
        for name in action:
            action.remove(name)
            if name == "finish":
                other.finish()
            else:
                other.remove(name)
        return written

    monkeypatch.setattr(Shelf, "_write", writing)


def test_a_document_that_goes_while_it_is_sealed_stays_gone(
    index: SqliteIndex, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_index(data)
    put(index, "gone.md", "gone")
    interrupt(monkeypatch, ["gone.md"], other)
    fill(index, 2)
    index.finish()
    snapshot = index.snapshot()
    assert snapshot.containing("gone", ANYWHERE, 9) == []
    assert snapshot.chunk_count == index.chunk_count() == 4
    assert files(data) == named(data)
    other.close()


def test_two_that_merge_at_once_do_not_double_anything(
    index: SqliteIndex, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(index, 12)
    before = everything(index.snapshot())
    other = open_index(data)
    interrupt(monkeypatch, ["finish"], other)
    index.finish()
    other.finish()
    assert everything(index.snapshot()) == everything(other.snapshot()) == before
    assert files(data) == named(data)
    other.close()


DAMAGES = ["missing", "truncated", "empty", "no end", "no table"]


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_named_and_put_aside(data: Path, kind: str) -> None:
    index = open_index(data)
    index.begin(STAMP)
    fill(index, 6)
    index.close()
    path = max((data / SEGMENTS_DIR).iterdir())
    whole = path.read_bytes()
    match kind:
        case "missing":
            path.unlink()
        case "truncated":
            path.write_bytes(whole[: len(whole) // 2])
        case "empty":
            path.write_bytes(b"")
        case "no end":
            path.write_bytes(whole[:-3] + b"xyz")
        case "no table":
            path.write_bytes(whole[:-300] + bytes(276) + whole[-24:])
    damaged = open_index(data)
    with pytest.raises(IndexCorrupt) as corrupt:
        damaged.snapshot()
    assert path.name in corrupt.value.message
    assert corrupt.value.hint == "ragchat index --rebuild"
    with pytest.raises(IndexCorrupt):
        damaged.check()
    damaged.close()
    again = replace_damaged_index(data)
    assert again.stamp is None
    again.close()
    aside = data / DAMAGED_DIR
    assert (aside / INDEX_FILE).exists()
    assert (aside / SEGMENTS_DIR / path.name).exists() == (kind != "missing")


def test_damage_within_a_file_is_found_by_a_check(index: SqliteIndex, data: Path) -> None:
    fill(index, 6)
    index.check()
    path = max((data / SEGMENTS_DIR).iterdir())
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 1
    path.write_bytes(whole)
    with pytest.raises(IndexCorrupt, match="its bytes are not what was written"):
        index.check()


def test_a_damaged_vector_is_never_an_answer(index: SqliteIndex, data: Path) -> None:
    fill(index, 6)
    index.close()
    path = min((data / SEGMENTS_DIR).iterdir())
    whole = path.read_bytes()
    vectors = [EMBEDDER.embed_question(f"[T]\nnote {number} about {number}").tobytes() for number in range(6)]
    vector = next(vector for vector in vectors if vector in whole)
    path.write_bytes(whole.replace(vector, np.full(32, 0.5, "<f4").tobytes()))
    damaged = open_index(data)
    snapshot = damaged.snapshot()
    ids = [hit.chunk_id for hit in snapshot.dense(EMBEDDER.embed_question("note"), 99, ANYWHERE)]
    with pytest.raises(IndexCorrupt, match="unit length"):
        snapshot.vectors(ids)
    damaged.close()


@pytest.mark.parametrize("failing", ["write", "fsync"])
def test_a_disk_that_is_full_at_any_moment_costs_nothing(
    index: SqliteIndex, data: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    fill(index, 20)
    before = everything(index.snapshot())
    plain = getattr(os, failing)
    for calls in range(400):
        left = [calls]

        def full(*arguments: object, left: list[int] = left) -> object:
            if left[0] <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            left[0] -= 1
            return plain(*arguments)

        put(index, "more.md", "one more")
        said = "no space is left"
        with monkeypatch.context() as patch:
            patch.setattr(os, failing, full)
            try:
                index.finish()
            except StorageFailed as error:
                said = error.message
        assert said.startswith("no space is left")
        assert files(data) == named(data)
        if left[0] > 0:
            break
        index.remove("more.md")
        assert everything(index.snapshot()) == before
    assert calls > 0
    index.remove("more.md")
    index.finish()
    assert everything(index.snapshot()) == before


def test_a_folder_that_can_only_be_read_still_answers(
    index: SqliteIndex, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(index, 10)
    before = everything(index.snapshot())
    index.close()
    monkeypatch.setattr("ragchat.index.database.os.access", lambda path, mode: mode != os.W_OK)
    reader = open_index(data)
    assert everything(reader.snapshot()) == before
    with pytest.raises(StorageFailed):
        put(reader, "b.md", "words")
    reader.close()


def test_an_index_can_be_copied_and_moved(index: SqliteIndex, data: Path, tmp_path: Path) -> None:
    fill(index, 10)
    before = everything(index.snapshot())
    index.close()
    shutil.move(data, tmp_path / "elsewhere")
    moved = open_index(tmp_path / "elsewhere")
    assert everything(moved.snapshot()) == before
    moved.close()


def test_a_run_of_one_size_is_merged_and_a_large_one_left() -> None:
    def manifest(*sizes: int) -> list[Entry]:
        return [Entry(number, f"{number}", number, size, 1, 1) for number, size in enumerate(sizes)]

    def sizes(chosen: list[Entry]) -> list[int]:
        return [entry.chunks for entry in chosen]

    assert neighbours_of_a_size([], []) == []
    assert neighbours_of_a_size(manifest(*[4] * 7), []) == []
    assert sizes(neighbours_of_a_size(manifest(500, *[4] * 8), [])) == [4] * 8
    assert sizes(neighbours_of_a_size(manifest(500, *[40] * 8, 4), [])) == []
    assert what_a_run_left([], []) == []
    assert what_a_run_left(manifest(100, 20, 5), [100, 20, 5]) == []
    assert sizes(what_a_run_left(manifest(100, 9, 9), [100, 9, 9])) == [9, 9]
    assert sizes(what_a_run_left(manifest(200, 20, 5, 2), [200, 20, 5, 2])) == [20, 5, 2]
    assert sizes(what_a_run_left(manifest(100, 20, 6), [100, 20, 6])) == [100, 20, 6]
    # Siblings that each stand before something much smaller are still a run.
    assert sizes(what_a_run_left(manifest(640, 80, 80, 80, 10), [640, 80, 80, 80, 10])) == [
        640,
        80,
        80,
        80,
        10,
    ]
    assert sizes(what_a_run_left(manifest(2000, 80, 80, 80, 10), [2000, 80, 80, 80, 10])) == [80, 80, 80, 10]
    assert sizes(what_a_run_left(manifest(100, 9), [70, 9])) == [100]


def test_what_is_found_is_found_in_any_number_of_segments(index: SqliteIndex) -> None:
    fill(index, 9)
    snapshot = index.snapshot()
    hits = snapshot.lexical(["note"], 99, ANYWHERE)
    assert sorted(found(snapshot, hits)) == sorted(f"note {n} about {n % 7}" for n in range(9))
