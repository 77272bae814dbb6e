"""A writer killed at any moment of writing, sealing or merging leaves an index that is whole.

The writers are forked from a process that has imported everything, so that a hundred of them take seconds.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ragchat.errors import IndexMissing
from ragchat.index import shelf, space, store
from ragchat.index.files import SEGMENTS_DIR
from ragchat.index.protocol import Snapshot
from ragchat.index.store import SqliteIndex, open_index
from tests.index.building import EMBEDDER, STAMP, contents, put, tokens_of
from tests.index.contract import ANYWHERE

KILLS = 100
SMALL = (
    (store, "SEALED_AT", 6),
    (store, "SEALED_AT_LAST", 2),
    (shelf, "SEALED_AT", 6),
    (space, "_STEP_PAGES", 2),
    (space, "_KEPT_PAGES", 1),
)
DOCUMENTS = 24

_FORKING = """
import os, sys
from pathlib import Path
from tests.index.test_storage_kill import change_for_ever

print("ready", flush=True)
for line in sys.stdin:
    if (child := os.fork()) == 0:
        change_for_ever(Path(sys.argv[1]), int(line))
    print(child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
"""


def open_small(data: Path) -> SqliteIndex:
    """Segments of a few chunks, so that sealing and merging come all the time."""
    for module, name, value in SMALL:
        setattr(module, name, value)
    index = open_index(data)
    index.begin(STAMP)
    return index


def write_version(index: SqliteIndex, number: int, version: int) -> None:
    passages = [f"note {number} version {version} part {part}" for part in range(1 + (number + version) % 4)]
    put(index, f"{number}.md", *passages, tokens=True)


def change_for_ever(data: Path, seed: int) -> None:
    chance, index = random.Random(seed), open_small(data)
    with index.writing():
        while True:
            number = chance.randrange(DOCUMENTS)
            match chance.randrange(10):
                case 0:
                    index.remove(f"{number}.md")
                case 1:
                    index.finish()
                case _:
                    write_version(index, number, chance.randrange(1000))


def assert_whole(index: SqliteIndex, snapshot: Snapshot) -> None:
    """Every document has all passages of one version, each found once, with its own vectors and its words."""
    hits = snapshot.dense(EMBEDDER.embed_question("note"), 10**6, ANYWHERE)
    ids = [hit.chunk_id for hit in hits]
    chunks = snapshot.chunks(ids)
    assert len(ids) == snapshot.chunk_count == index.chunk_count()
    said: dict[str, set[str]] = {}
    for chunk in chunks:
        said.setdefault(chunk.document, set()).add(chunk.content)
    for name, passages in said.items():
        version = int(next(iter(passages)).split()[3])
        assert len(passages) == 1 + (int(name.removesuffix(".md")) + version) % 4
        assert {passage.split()[3] for passage in passages} == {str(version)}
    assert said.keys() == index.sources().keys()
    if not ids:  # killed before the first document
        return
    np.testing.assert_array_equal(
        snapshot.vectors(ids), EMBEDDER.embed_passages([chunk.text for chunk in chunks])
    )
    matrices = snapshot.token_vectors(ids)
    assert matrices is not None
    np.testing.assert_array_equal(np.concatenate(matrices), tokens_of(chunks).data)
    assert len(snapshot.lexical(["note"], 10**6, ANYWHERE)) == len(ids)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the writers are forked")
def test_a_hundred_kills_at_any_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)  # and put back after the test
    data, chance = tmp_path / "data", random.Random(11)
    forking = subprocess.Popen(
        [sys.executable, "-c", _FORKING, data],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert forking.stdin is not None
    assert forking.stdout is not None
    assert forking.stdout.readline() == "ready\n"
    filled = leftovers = 0
    for seed in range(KILLS):
        forking.stdin.write(f"{seed}\n")
        forking.stdin.flush()
        writer = int(forking.stdout.readline())
        time.sleep(chance.uniform(0, 0.06))
        os.kill(writer, signal.SIGKILL)
        assert forking.stdout.readline() == "dead\n"
        index = open_index(data)
        try:
            snapshot = index.snapshot()
        except IndexMissing:
            index.close()
            continue
        assert_whole(index, snapshot)
        filled += snapshot.chunk_count > 0
        leftovers += len(list((data / SEGMENTS_DIR).glob("*"))) if (data / SEGMENTS_DIR).exists() else 0
        index.close()
    forking.communicate()
    assert filled  # how many is a matter of what else the machine does
    assert leftovers
    index, fresh = open_small(data), open_small(tmp_path / "fresh")
    for number in range(DOCUMENTS):
        for each in (index, fresh):
            write_version(each, number, 1)
    index.finish()
    index.check()
    assert contents(index) == contents(fresh)
    index.close()
    fresh.close()
