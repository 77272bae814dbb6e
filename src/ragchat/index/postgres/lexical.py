"""BM25 in SQL, equal to the local scores: the rarest words propose, the commoner ones only add.

A chunk that holds none of the rare words can gain at most idf · (k1 + 1) from each of the others. As soon as
the best `limit` partial scores lie above that sum, no further chunk can come in (MaxScore: Turtle and Flood
1995, Information Processing & Management 31:831), and the common words are looked up for the remaining few
chunks alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragchat.index.bm25 import K1, B, idf
from ragchat.index.protocol import Hit

if TYPE_CHECKING:
    from ragchat.index.postgres.connection import Connection

_FEW_ROWS = 2_000
"""Rows of `words` that are read without asking whether fewer would do: one more round trip costs as much."""

_WORK_MEM = "64MB"
"""Partial scores of half a million chunks fit into it; with the usual 4 MB they go through the disk."""

_SMALL_PART = 0.45
"""A word that stands once in a passage of average length gives 0.45 of its weight (1 / (1 + k1))."""

_WORTH = 0.25
"""So many times the rows read must be spared: else one query over all words is the shorter way."""

_SLACK = 1e-9
"""Rounding: a bound that is equal to the last score must not shut out a chunk that ties with it."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question. rows: chunks that hold it; weight: what a frequency of infinity would give."""

    token: str
    rows: int
    weight: float


_TERM = "q.weight * w.frequency / (w.frequency + %(k1)s * (1 - %(b)s + %(b)s * w.length / %(average)s))"

# The policies of row-level security apply in here too: nobody's score counts what that person may not see.
_PROPOSED = """
    SELECT w.chunk_id, sum({term}) AS score
    FROM unnest(%(rare)s::text[], %(rare_weights)s::float8[]) AS q (token, weight)
    JOIN {schema}.words w ON w.token = q.token COLLATE "C"
    {scope}
    GROUP BY w.chunk_id
"""
# A sum's last digits depend on the order of its rows: what ties but for them is all there.
_WHOLE = _PROPOSED + "ORDER BY round(sum({term}) * 1e9) DESC FETCH FIRST (%(limit)s) ROWS WITH TIES"
# No row at all when the bar is too low: then a chunk that was not proposed could still come in.
_BOUNDED = (
    "WITH rare AS MATERIALIZED ("
    + _PROPOSED
    + """
), bar AS (
    SELECT score FROM rare ORDER BY score DESC OFFSET %(limit)s - 1 LIMIT 1
), kept AS MATERIALIZED (
    SELECT rare.* FROM rare, bar WHERE bar.score > %(rest)s AND rare.score + %(rest)s >= bar.score
), added AS (
    SELECT kept.chunk_id, sum({term}) AS score
    FROM kept, unnest(%(common)s::text[], %(common_weights)s::float8[]) AS q (token, weight)
    JOIN LATERAL (
        SELECT frequency, length FROM {schema}.words
        WHERE words.token = q.token COLLATE "C" AND words.chunk_id = kept.chunk_id
        LIMIT 1 -- one by one, as is meant: the planner would rather read a common word whole and join it
    ) w ON true
    GROUP BY kept.chunk_id
)
SELECT kept.chunk_id, kept.score + coalesce(added.score, 0) AS total
FROM kept LEFT JOIN added USING (chunk_id)
ORDER BY round((kept.score + coalesce(added.score, 0)) * 1e9) DESC FETCH FIRST (%(limit)s) ROWS WITH TIES
"""
)


def search(
    connection: Connection,
    schema: str,
    tokens: Sequence[str],
    limit: int,
    *,
    chunks: int,
    length: int,
    scope_sql: str,
    scope_parameters: dict[str, object],
) -> list[Hit]:
    """The best chunks, and those that tie with the last of them, in no order.

    chunks, length: how many chunks this reader may see, and how many tokens they have.
    scope_sql: a WHERE clause over `w`, or nothing.
    """
    words = _words(connection, schema, tokens, chunks)
    if not words or limit <= 0:
        return []
    # Scanning the whole of `words` is never the way; the planner cannot know what stands in the arrays.
    connection.execute(
        "SELECT set_config('enable_seqscan', 'off', true), set_config('work_mem', %s, true)", (_WORK_MEM,)
    )
    parameters = {"k1": K1, "b": B, "average": length / chunks, "limit": limit, **scope_parameters}
    for split in _splits(words, limit):
        rare, common = words[:split], words[split:]
        rows = connection.execute(
            (_BOUNDED if common else _WHOLE).format(schema=schema, scope=scope_sql, term=_TERM),
            {
                **parameters,
                "rare": [word.token for word in rare],
                "rare_weights": [word.weight for word in rare],
                "common": [word.token for word in common],
                "common_weights": [word.weight for word in common],
                "rest": sum(word.weight for word in common) + _SLACK,
            },
        ).fetchall()
        if rows:
            break
    connection.execute("SET LOCAL enable_seqscan = on")
    return [Hit(int(row[0]), float(row[1])) for row in rows]


def document_frequency(connection: Connection, schema: str, token: str) -> int:
    """In how many visible chunks the token stands."""
    row = connection.execute(
        f'SELECT coalesce(sum(chunks), 0)::bigint FROM {schema}.word_counts WHERE token = %s COLLATE "C"',
        (token,),
    ).fetchone()
    return 0 if row is None else int(row[0])


def _words(connection: Connection, schema: str, tokens: Sequence[str], chunks: int) -> list[Word]:
    """The question's words that the library has, the rarest first; one repeated counts as often."""
    counts = Counter(token for token in tokens if "\0" not in token)
    rows = connection.execute(
        f"SELECT token, sum(chunks)::bigint FROM {schema}.word_counts "
        'WHERE token = ANY (%s::text[] COLLATE "C") GROUP BY token HAVING sum(chunks) > 0',
        (list(counts),),
    ).fetchall()
    words = [Word(token, n, counts[token] * idf(chunks, n) * (K1 + 1)) for token, n in rows]
    return sorted(words, key=lambda word: (word.rows, word.token))


def _splits(words: Sequence[Word], limit: int) -> Iterator[int]:
    """How many words propose, try by try; the last is all of them.

    Enough do when what is left can add only a small part of what the rarest give: then the best `limit` lie
    above that, and few chunks stay of which more must be looked up.
    """
    read, rest, weight = 0, sum(word.weight for word in words), 0.0
    left = sum(word.rows for word in words)
    for split, word in enumerate(words[:-1], start=1):
        read, left, rest = read + word.rows, left - word.rows, rest - word.weight
        if read >= limit:
            weight = weight or word.weight
            if rest < _SMALL_PART * weight and left > max(_FEW_ROWS, read * _WORTH):
                yield split
                break
    yield len(words)
