"""A process killed at any moment leaves an index that can be used, and that the next run completes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from ragchat.chunking.options import ChunkOptions
from ragchat.errors import IndexMissing, IndexStale
from ragchat.index.store import SqliteIndex, open_index
from tests.doubles import WordEmbedder
from tests.index.building import contents, indexer, write
from tests.index.contract import ANYWHERE

KILLS = 100
NOTES, PARTS = 12, 6

# Imports once, then forks a child for each line it reads: a hundred starts of Python would take minutes.
_INDEXING = """
import os, sys
from pathlib import Path
from ragchat.chunking.options import ChunkOptions
from ragchat.errors import IndexStale
from ragchat.index.store import open_index
from tests.doubles import WordEmbedder
from tests.index.building import indexer

folder, data = Path(sys.argv[1]), Path(sys.argv[2])
print("ready", flush=True)
for line in sys.stdin:
    kind, size = line.split()
    child = os.fork()
    if not child:
        print(os.getpid(), flush=True)
        index = open_index(data)
        chunking = ChunkOptions(size=int(size))
        while True:
            run = indexer(folder, index, WordEmbedder(dimensions=64), chunking=chunking).run
            try:
                run(rebuild=kind == "rebuild")
            except IndexStale:  # it was killed before it had begun to rebuild
                run(rebuild=True)
    os.waitpid(child, 0)
    print("killed", flush=True)
"""


class Victims:
    """Processes that index the folder, one after the other, until each is killed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def live_and_die(self, kind: str, size: int, seconds: float) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{kind} {size}\n")
        self._process.stdin.flush()
        victim = int(self._process.stdout.readline())
        time.sleep(seconds)
        os.kill(victim, signal.SIGKILL)
        assert self._process.stdout.readline() == "killed\n"


@contextmanager
def victims(folder: Path, data: Path) -> Iterator[Victims]:
    with subprocess.Popen(
        [sys.executable, "-c", _INDEXING, folder, data],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield Victims(process)
        assert process.stdin is not None
        process.stdin.close()


def check(index: SqliteIndex) -> int:
    """Every document is there whole, and what is quoted stands in its text; how many there are."""
    try:
        snapshot = index.snapshot()
    except IndexMissing:
        return 0
    assert snapshot.chunk_count == PARTS * snapshot.coverage.indexed  # no document is there by half
    hits = snapshot.dense(np.full(64, 0.125, dtype=np.float32), 10**6, ANYWHERE)
    assert len(hits) == snapshot.chunk_count
    texts = {name: index.document_text(name) for name in index.sources()}
    for chunk in snapshot.chunks([hit.chunk_id for hit in hits]):
        text = texts[chunk.document]
        assert text is not None
        assert text[chunk.start : chunk.end] == chunk.content
    return snapshot.coverage.indexed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_hundred_kills_at_any_moment_leave_a_true_index(tmp_path: Path) -> None:
    folder, data = tmp_path / "notes", tmp_path / "data"
    chance = random.Random(7)
    files = {
        f"n{number}.md": "\n\n".join(f"# Part {part}\n\nnote {number} part {part}" for part in range(PARTS))
        for number in range(NOTES)
    }
    write(folder, files)
    size, whole, unfinished = 512, False, 0
    with victims(folder, data) as killed:
        for number in range(KILLS):
            kind = chance.choice(["update", "update", "rebuild"])
            if kind == "rebuild":
                size = chance.choice([400, 512])
            killed.live_and_die(kind, size, chance.uniform(0, 0.15) if number % 8 < 7 else 0.8)
            index = open_index(data)
            there = check(index)
            # Once it was whole it stays so: a rebuild under another stamp leaves the old index in use.
            assert there == NOTES or not whole
            whole = whole or there == NOTES
            unfinished += there < NOTES or index.building is not None
            index.close()
            name = chance.choice(sorted(files))
            files[name] = files[name].replace("note", "noted", 1) + " "
            write(folder, {name: files[name]})
    assert unfinished  # how many is a matter of what else the machine does
    index, fresh = open_index(data), open_index(tmp_path / "fresh")
    chunking = ChunkOptions(size=512)
    for each in (index, fresh):
        try:
            report = indexer(folder, each, WordEmbedder(dimensions=64), chunking=chunking).run()
        except IndexStale:
            report = indexer(folder, each, WordEmbedder(dimensions=64), chunking=chunking).run(rebuild=True)
        assert report.complete
    assert contents(index) == contents(fresh)
    index.close()
    fresh.close()
