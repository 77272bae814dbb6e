"""An index that an earlier ragchat wrote is converted, or stays as it was."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from ragchat.documents.document import FailedDocument
from ragchat.errors import StorageFailed
from ragchat.index import migration
from ragchat.index.files import INDEX_FILE
from ragchat.index.source import Source
from ragchat.index.store import SqliteIndex, open_index
from tests.index.building import STAMP, chunks_of, contents, document, embed, put, source
from tests.index.contract import ANYWHERE

STAMP_1 = replace(STAMP, embedder=replace(STAMP.embedder, token_vectors=""))

VERSION_1 = """
CREATE TABLE stamps (
    id INTEGER PRIMARY KEY,
    stamp TEXT NOT NULL UNIQUE
);
CREATE TABLE state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    stamp_id INTEGER REFERENCES stamps (id),
    generation INTEGER NOT NULL
);
INSERT INTO state VALUES (1, NULL, 0);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    stamp_id INTEGER NOT NULL REFERENCES stamps (id),
    title TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL,
    digest TEXT NOT NULL,
    extractor TEXT NOT NULL,
    text BLOB NOT NULL
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    section TEXT NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    context_start INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    header_tokens INTEGER NOT NULL,
    locator TEXT NOT NULL,
    text TEXT NOT NULL,
    text_digest TEXT NOT NULL
);
CREATE INDEX chunks_of_document ON chunks (document_id);
CREATE INDEX chunks_of_text ON chunks (text_digest);
CREATE TABLE vectors (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    vector BLOB NOT NULL
);
CREATE TABLE failures (
    name TEXT PRIMARY KEY,
    reason TEXT NOT NULL,
    hint TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    checked_ns INTEGER NOT NULL,
    digest TEXT NOT NULL,
    extractor TEXT NOT NULL
);
CREATE TABLE "values" (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
"""


def text_of(number: int) -> str:
    return f"note {number} about {number % 7}\nand its end"


def write_version_1(data: Path, count: int) -> None:
    """As ragchat 0.1 wrote it before there were segments."""
    data.mkdir(parents=True)
    connection = sqlite3.connect(data / INDEX_FILE)
    connection.executescript(VERSION_1)
    connection.execute(f"PRAGMA application_id = {0x52414743}")
    connection.execute("PRAGMA user_version = 1")
    stamp = asdict(STAMP)
    del stamp["embedder"]["token_vectors"]  # the field is younger than that version
    connection.execute("INSERT INTO stamps (stamp) VALUES (?)", (json.dumps(stamp, sort_keys=True),))
    connection.execute("INSERT INTO stamps (stamp) VALUES ('{}')")
    connection.execute("UPDATE state SET stamp_id = 1, generation = 7")
    for number in range(count + 1):
        name, text = f"{number}.md", text_of(number)
        whole = document(name, text)
        middle = text.index("\n")
        stamp_id = 1 if number < count else 2  # the last one is of a stamp that is not in use
        cursor = connection.execute(
            "INSERT INTO documents (name, stamp_id, title, size, modified_ns, checked_ns, digest, extractor,"
            " text) VALUES (?, ?, 'T', ?, 1, 2, ?, 'test/1', ?)",
            (name, stamp_id, len(text), whole.digest, zlib.compress(text.encode())),
        )
        for chunk in chunks_of(whole, (0, middle), (middle + 1, len(text))):
            digest = hashlib.sha256(chunk.text.encode()).hexdigest()
            inserted = connection.execute(
                'INSERT INTO chunks (document_id, section, start, "end", first_line, last_line,'
                " context_start, tokens, header_tokens, locator, text, text_digest)"
                " VALUES (?, ?, ?, ?, 1, 1, ?, 7, 2, '', ?, ?)",
                (
                    cursor.lastrowid,
                    json.dumps(chunk.section),
                    chunk.start,
                    chunk.end,
                    chunk.start,
                    chunk.text,
                    digest,
                ),
            )
            connection.execute(
                "INSERT INTO vectors VALUES (?, ?)", (inserted.lastrowid, embed([chunk])[0].tobytes())
            )
    connection.execute("DELETE FROM documents WHERE name = '2.md'")
    connection.execute("DELETE FROM chunks WHERE document_id = 3")
    connection.execute("DELETE FROM vectors WHERE chunk_id NOT IN (SELECT id FROM chunks)")
    connection.execute(
        "INSERT INTO failures VALUES ('x.md', 'it is binary', 'leave it out', 3, 1, 2, '', 'test/1')"
    )
    connection.execute("""INSERT INTO "values" VALUES ('threshold', '0.5')""")
    connection.commit()
    connection.close()


def fresh(data: Path, count: int) -> SqliteIndex:
    index = open_index(data)
    index.begin(STAMP_1)
    for number in range(count):
        if number != 2:
            put(index, f"{number}.md", *text_of(number).split("\n"))
    failure = FailedDocument("x.md", "it is binary", "leave it out", "", "test/1")
    index.fail(failure, Source("x.md", 3, 1, "", "test/1", "failed", 2))
    return index


@pytest.mark.parametrize("count", [0, 12])
def test_nothing_is_lost_and_nothing_embedded_again(tmp_path: Path, count: int) -> None:
    write_version_1(tmp_path / "old", count)
    old, new = open_index(tmp_path / "old"), fresh(tmp_path / "new", count)
    for _ in range(2):
        assert contents(old) == contents(new)
        assert old.read_value("threshold") == "0.5"
        digest = hashlib.sha256(b"[T]\nand its end").hexdigest()
        assert old.vectors_of_texts([digest]).keys() == new.vectors_of_texts([digest]).keys()
        old.finish()
    old.close()
    old = open_index(tmp_path / "old")
    put(old, "later.md", "later")
    put(new, "later.md", "later")
    assert contents(old) == contents(new)
    (later,) = old.snapshot().containing("later", ANYWHERE, 1)
    assert later > 2 * (count + 1)  # also an id that was deleted before is never given again
    old.close()
    new.close()


def test_an_index_that_was_never_filled(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    connection = sqlite3.connect(data / INDEX_FILE)
    connection.executescript(VERSION_1)
    connection.execute(f"PRAGMA application_id = {0x52414743}")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    index = open_index(data)
    assert (index.stamp, index.sources()) == (None, {})
    index.begin(STAMP)
    put(index, "a.md", "words")
    index.close()


def test_a_conversion_that_fails_leaves_the_old_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    write_version_1(data, 12)
    copying = migration._COPY
    monkeypatch.setattr(migration, "_COPY", copying + "INSERT INTO nowhere VALUES (1);\n")
    with pytest.raises(Exception, match="nowhere"):
        open_index(data)
    monkeypatch.setattr(migration, "_COPY", copying)
    index = open_index(data)
    assert index.snapshot().chunk_count == 22
    index.close()


def test_an_old_index_that_may_not_be_written_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    write_version_1(data, 3)
    monkeypatch.setattr("ragchat.index.database.os.access", lambda path, mode: False)
    with pytest.raises(StorageFailed, match="older form"):
        open_index(data)
    connection = sqlite3.connect(data / INDEX_FILE)
    assert connection.execute("SELECT count(*) FROM vectors").fetchone() == (6,)
    connection.close()


def test_an_index_of_version_2_gets_its_new_columns(tmp_path: Path) -> None:
    index = open_index(tmp_path / "data")
    index.begin(STAMP)
    put(index, "2025-01-31.md", "words")
    before = contents(index)
    index.close()
    with sqlite3.connect(tmp_path / "data" / INDEX_FILE) as connection:
        for column in ("tags", "dated"):
            connection.execute(f"ALTER TABLE documents DROP COLUMN {column}")
        connection.execute("ALTER TABLE chunks DROP COLUMN own_words")
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    index = open_index(tmp_path / "data")
    assert contents(index) == before
    known = index.sources()["2025-01-31.md"]
    assert (known.tags, known.day) == ((), "2025-01-31")
    put(index, "a.md", "more")
    index.close()


def test_an_index_of_version_3_goes_on_cutting_what_it_did_not_keep(tmp_path: Path) -> None:
    """A passage whose words stand otherwise in what is embedded: the address of a link is left out there."""
    index = open_index(tmp_path / "data")
    index.begin(STAMP)
    whole = document("a.md", "before [a lease](http://x.y) after")
    (chunk,) = chunks_of(whole, (7, 28))
    chunk = replace(chunk, text="[T]\na lease", context_start=0, lead="before ")
    index.replace(whole, source("a.md", whole.text), [chunk], embed([chunk]))
    with sqlite3.connect(tmp_path / "data" / INDEX_FILE) as connection:
        kept = connection.execute("SELECT own_words FROM chunks").fetchall()
        assert kept == [("before [a lease](http://x.y)",)]
    connection.close()
    before = contents(index)
    index.close()
    with sqlite3.connect(tmp_path / "data" / INDEX_FILE) as connection:
        connection.execute("ALTER TABLE chunks DROP COLUMN own_words")
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    index = open_index(tmp_path / "data")
    assert contents(index) == before
    hits = index.snapshot().dense(embed([chunk])[0], 1, ANYWHERE)
    assert index.snapshot().chunks([hit.chunk_id for hit in hits]) == [chunk]
    index.close()
