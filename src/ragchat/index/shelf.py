"""The segment files of one index: opened, written, merged, and thrown away when no manifest names them.

The manifest is the table `segments`. A file is whole and synced before the transaction that names it, and
that transaction is synced before the files it no longer names are deleted, so that the database and the files
it names always belong together, whatever dies in between.
"""

from __future__ import annotations

import dataclasses
import itertools
import secrets
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ragchat.embedding.embedder import Int8Matrix, Vector
from ragchat.index import chunk_rows, rows
from ragchat.index.files import SEGMENTS_DIR
from ragchat.index.postings import SEPARATOR
from ragchat.index.queries import read_number
from ragchat.index.ranking import Ids
from ragchat.index.segment import Part, Segment, TokenRows, read_segment, segment_in_memory, write_segment
from ragchat.index.segment_file import Written, verify_segment_file
from ragchat.index.tokens import tokenize
from ragchat.index.view import View, mask_without

SEALED_AT = 1024
"""So many chunks written to tables become a segment: loading them for a question would begin to be felt."""
SEALED_AT_LAST = 256
"""The same at the end of a run, when nobody waits for the next document."""

_MERGED_AT = 8
"""So many neighbours of about the same size become one; a chunk is written again log₈ n times in all."""
_STEP = 4
"""At the end of a run each segment is at least so many times as large as all that follow it together."""
_DEAD_SHARE = 4
"""A segment of which more than this part is dead is written anew."""

_Transaction = Callable[[str], AbstractContextManager[sqlite3.Connection]]


class Entry(NamedTuple):
    """One line of the manifest."""

    id: int
    file: str
    first_chunk: int
    chunks: int
    size: int
    checksum: int


class Shelf:
    """Safe to use from several threads. transaction: opens one of the kind it is told on the database."""

    def __init__(self, data_dir: Path, transaction: _Transaction) -> None:
        self._folder = data_dir / SEGMENTS_DIR
        self._transaction = transaction
        self._turn = threading.Lock()
        self._opened: dict[str, Segment] = {}

    def view(self, connection: sqlite3.Connection, stamp_id: int, generation: int) -> View:
        """The state that the connection's transaction sees.

        Raises FileNotFoundError when a file was merged away since that transaction began, IndexCorrupt.
        """
        stamp = rows.read_stamp(connection, stamp_id)
        dead = read_dead(connection, stamp_id)
        parts = [
            Part(segment, mask_without(segment, dead))
            for segment in self._open_all(read_manifest(connection, stamp_id))
        ]
        self._forget_unnamed(connection)
        recent = _read_recent(connection, stamp_id, stamp.embedder.dimensions)
        if len(recent):
            parts.append(Part(recent))
        return View(generation, stamp_id, stamp, rows.read_coverage(connection, stamp_id), parts)

    def vectors(
        self, connection: sqlite3.Connection, stamp_id: int, chunk_ids: Sequence[int]
    ) -> dict[int, Vector]:
        """Vectors of these chunks."""
        dimensions = rows.read_stamp(connection, stamp_id).embedder.dimensions
        recent = list(chunk_rows.read_recent_vectors(connection, chunk_ids))
        matrix = chunk_rows.unpack_vectors([blob for _, blob in recent], dimensions)
        found = {chunk_id: matrix[place] for place, (chunk_id, _) in enumerate(recent)}
        for chunk_id, segment, row in self._places(connection, stamp_id, set(chunk_ids) - found.keys()):
            found[chunk_id] = segment.vectors[row]
        return found

    def token_vectors(
        self, connection: sqlite3.Connection, stamp_id: int, chunk_ids: Sequence[int]
    ) -> dict[int, Int8Matrix]:
        """Token vectors of these chunks, as far as they have any."""
        found = chunk_rows.read_recent_tokens(connection, chunk_ids)
        for chunk_id, segment, row in self._places(connection, stamp_id, set(chunk_ids) - found.keys()):
            if segment.tokens is not None:
                found[chunk_id] = segment.tokens.of(row)
        return found

    def seal(self, stamp_id: int, at_least: int) -> bool:
        """Make a segment of the chunks that stand in tables, if there are so many. Raises StorageFailed."""
        with self._transaction("DEFERRED") as connection:
            if _count_recent(connection, stamp_id) < at_least:
                return False
            dimensions = rows.read_stamp(connection, stamp_id).embedder.dimensions
            segment = _with_tokens(_read_recent(connection, stamp_id, dimensions), connection)
        file, written = self._write([Part(segment)])
        sealed = (stamp_id, int(segment.ids[-1]))
        with self._transaction("DURABLE") as connection:
            there = read_number(
                connection, "SELECT count(*) FROM recent WHERE stamp_id = ? AND chunk_id <= ?", *sealed
            )
            if there != len(segment):  # some were replaced meanwhile; the next time will do
                self._discard([file])
                return False
            connection.execute("DELETE FROM recent WHERE stamp_id = ? AND chunk_id <= ?", sealed)
            _enter(connection, stamp_id, file, segment.ids, written)
        return True

    def merge(self, stamp_id: int, choose: Callable[[list[Entry], list[int]], list[Entry]]) -> bool:
        """Put one segment in place of those chosen, which are neighbours. Raises StorageFailed, IndexCorrupt.

        choose: told the manifest and how many chunks of each can be found.
        """
        with self._transaction("DEFERRED") as connection:
            manifest = read_manifest(connection, stamp_id)
            dead = read_dead(connection, stamp_id)
            opened = self._open_all(manifest)
        parts = [Part(segment, mask_without(segment, dead)) for segment in opened]
        chosen = choose(manifest, [part.live for part in parts])
        if not chosen:
            return False
        merging = [part for entry, part in zip(manifest, parts, strict=True) if entry in chosen]
        ids = np.concatenate(
            [part.segment.ids[part.mask if part.mask is not None else ...] for part in merging]
        )
        file, written = self._write(merging) if len(ids) else ("", Written(0, 0))
        gone = np.concatenate([part.segment.ids for part in merging])
        with self._transaction("DURABLE") as connection:
            if set(chosen) - set(read_manifest(connection, stamp_id)):  # another program was faster
                self._discard([file])
                return False
            connection.executemany("DELETE FROM segments WHERE id = ?", [(entry.id,) for entry in chosen])
            _forget_dead(connection, stamp_id, dead, gone)
            if len(ids):
                _enter(connection, stamp_id, file, ids, written)
        self._discard([entry.file for entry in chosen])
        return True

    def collect_garbage(self) -> None:
        """Delete files that no manifest names. Called by the only writer: nobody else will name them."""
        with self._transaction("DEFERRED") as connection:
            named = {row[0] for row in connection.execute("SELECT file FROM segments")}
        with suppress(OSError):
            self._discard([path.name for path in self._folder.iterdir() if path.name not in named])

    def verify(self) -> None:
        """Read every file that the manifest names. Raises IndexCorrupt."""
        with self._transaction("DEFERRED") as connection:
            files = connection.execute("SELECT file, size, checksum FROM segments").fetchall()
        for file, size, checksum in files:
            verify_segment_file(self._folder / file, Written(size, checksum))

    def _open_all(self, manifest: Sequence[Entry]) -> list[Segment]:
        with self._turn:
            opened = {
                entry.file: self._opened.get(entry.file)
                or read_segment(self._folder / entry.file, entry.size)
                for entry in manifest
            }
            self._opened = {**self._opened, **opened}
            return list(opened.values())

    def _forget_unnamed(self, connection: sqlite3.Connection) -> None:
        """Let go of files that another process has merged: as long as they are mapped they take up disk."""
        named = {row[0] for row in connection.execute("SELECT file FROM segments")}
        with self._turn:
            self._opened = {file: segment for file, segment in self._opened.items() if file in named}

    def _places(
        self, connection: sqlite3.Connection, stamp_id: int, chunk_ids: set[int]
    ) -> Iterator[tuple[int, Segment, int]]:
        if not chunk_ids:
            return
        wanted = np.array(sorted(chunk_ids), dtype=np.int64)
        for segment in self._open_all(read_manifest(connection, stamp_id)):
            places = segment.rows_of(wanted)
            for chunk_id, row in zip(wanted.tolist(), places.tolist(), strict=True):
                if row >= 0:
                    yield chunk_id, segment, row

    def _write(self, parts: Sequence[Part]) -> tuple[str, Written]:
        file = f"{secrets.token_hex(8)}.segment"
        return file, write_segment(self._folder / file, parts)

    def _discard(self, files: Sequence[str]) -> None:
        """Windows keeps a file that somebody has mapped; it is garbage and goes another time."""
        with self._turn:
            for file in files:
                self._opened.pop(file, None)
        for file in filter(None, files):
            with suppress(OSError):
                (self._folder / file).unlink(missing_ok=True)


def read_manifest(connection: sqlite3.Connection, stamp_id: int) -> list[Entry]:
    """The segments of a stamp, in ascending order of chunk id."""
    found = connection.execute(
        "SELECT id, file, first_chunk, chunks, size, checksum FROM segments WHERE stamp_id = ? "
        "ORDER BY first_chunk",
        (stamp_id,),
    )
    return [Entry(*row) for row in found]


def read_dead(connection: sqlite3.Connection, stamp_id: int) -> Ids:
    """Ranges [first, last] of chunk ids that segments hold and nothing finds, shape (ranges, 2)."""
    found = connection.execute("SELECT first_chunk, last_chunk FROM dead WHERE stamp_id = ?", (stamp_id,))
    return np.array(found.fetchall(), dtype=np.int64).reshape(-1, 2)


def neighbours_of_a_size(manifest: list[Entry], _live: list[int]) -> list[Entry]:
    """The last segments, when so many have come together that are not much larger than the very last."""
    most = _MERGED_AT * max(SEALED_AT, manifest[-1].chunks) if manifest else 0
    run = list(itertools.takewhile(lambda entry: entry.chunks < most, reversed(manifest)))
    return run[::-1] if len(run) >= _MERGED_AT else []


def what_a_run_left(manifest: list[Entry], live: list[int]) -> list[Entry]:
    """All from the first that is not much larger than all behind it; else one that is largely dead."""
    for place in range(len(manifest) - 1):
        if manifest[place].chunks < _STEP * sum(follower.chunks for follower in manifest[place + 1 :]):
            return manifest[place:]
    for entry, found in zip(manifest, live, strict=True):
        if (entry.chunks - found) * _DEAD_SHARE > entry.chunks:
            return [entry]
    return []


def _enter(connection: sqlite3.Connection, stamp_id: int, file: str, ids: Ids, written: Written) -> None:
    connection.execute(
        "INSERT INTO segments (stamp_id, file, first_chunk, chunks, size, checksum) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (stamp_id, file, int(ids[0]), len(ids), written.size, written.checksum),
    )
    connection.execute("UPDATE state SET generation = generation + 1")


def _forget_dead(connection: sqlite3.Connection, stamp_id: int, dead: Ids, gone: Ids) -> None:
    """Ranges whose chunks were merged away. A document lies in one segment whole, and so does its range."""
    places = np.searchsorted(gone, dead[:, 0])
    places[places == len(gone)] = 0
    done = dead[gone[places] == dead[:, 0]] if len(gone) else dead[:0]
    connection.executemany(
        "DELETE FROM dead WHERE stamp_id = ? AND first_chunk = ?",
        [(stamp_id, int(first)) for first in done[:, 0]],
    )


def _count_recent(connection: sqlite3.Connection, stamp_id: int) -> int:
    return read_number(connection, "SELECT count(*) FROM recent WHERE stamp_id = ?", stamp_id)


def _read_recent(connection: sqlite3.Connection, stamp_id: int, dimensions: int) -> Segment:
    found = connection.execute(
        "SELECT r.chunk_id, c.document_id, r.vector, r.words, CASE WHEN r.words IS NULL THEN c.text END "
        "FROM recent r JOIN chunks c ON c.id = r.chunk_id WHERE r.stamp_id = ? ORDER BY r.chunk_id",
        (stamp_id,),
    ).fetchall()
    return segment_in_memory(
        [row[0] for row in found],
        [row[1] for row in found],
        chunk_rows.unpack_vectors([row[2] for row in found], dimensions),
        [row[3] if row[3] is not None else SEPARATOR.join(tokenize(row[4])) for row in found],
    )


def _with_tokens(segment: Segment, connection: sqlite3.Connection) -> Segment:
    """The same with its token vectors, if it has any."""
    tokens = chunk_rows.read_recent_tokens(connection, segment.ids.tolist())
    if not tokens:
        return segment
    none = next(iter(tokens.values()))[:0]
    matrices = [tokens.get(chunk_id, none) for chunk_id in segment.ids.tolist()]
    starts = np.concatenate([[0], np.cumsum([len(matrix) for matrix in matrices])]).astype(np.int64)
    return dataclasses.replace(segment, tokens=TokenRows(starts, np.concatenate(matrices)))
