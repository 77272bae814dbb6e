"""A process killed at any moment leaves an index that can be used, and that the next run completes."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from ragchat.errors import IndexMissing
from ragchat.index.store import open_index
from tests.doubles import WordEmbedder
from tests.index.building import contents, indexer, write
from tests.index.contract import ANYWHERE

KILLS = 12

_INDEXING = """
import sys
from pathlib import Path
from ragchat.index.store import open_index
from tests.doubles import WordEmbedder
from tests.index.building import indexer

index = open_index(Path(sys.argv[2]))
indexer(Path(sys.argv[1]), index, WordEmbedder(dimensions=64)).run()
print("ready", flush=True)
while True:
    indexer(Path(sys.argv[1]), index, WordEmbedder(dimensions=64)).run(rebuild=True)
"""


def test_a_kill_at_any_moment_leaves_a_true_index(tmp_path: Path) -> None:
    folder, data = tmp_path / "notes", tmp_path / "data"
    chance = random.Random(7)
    files = {
        f"n{number}.md": "\n\n".join(f"# Part {part}\n\nnote {number} part {part}" for part in range(12))
        for number in range(30)
    }
    write(folder, files)
    seen_partly = 0
    for _ in range(KILLS):
        process = subprocess.Popen(
            [sys.executable, "-c", _INDEXING, folder, data],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        index = open_index(data)
        try:
            snapshot = index.snapshot()
        except IndexMissing:
            index.close()
            continue
        assert snapshot.chunk_count == 12 * snapshot.coverage.indexed  # no document is there by half
        seen_partly += snapshot.coverage.indexed > 0
        hits = snapshot.dense(np.full(64, 0.125, dtype=np.float32), 10**6, ANYWHERE)
        texts = {name: index.document_text(name) for name in index.sources()}
        for chunk in snapshot.chunks([hit.chunk_id for hit in hits]):
            text = texts[chunk.document]
            assert text is not None
            assert text[chunk.start : chunk.end] == chunk.content
        index.close()
        # The folder goes on changing between one run and the next.
        name = chance.choice(sorted(files))
        files[name] = files[name].replace("note", "noted", 1) + " "
        write(folder, {name: files[name]})
    assert seen_partly  # how many is a matter of what else the machine does
    index, fresh = open_index(data), open_index(tmp_path / "fresh")
    for each in (index, fresh):
        report = indexer(folder, each, WordEmbedder(dimensions=64)).run()
        assert report.complete
    assert contents(index) == contents(fresh)
    index.close()
    fresh.close()
