from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragchat.embedding.embedder import Matrix, Vector
from ragchat.index import dense
from ragchat.index.dense import exact_cosines, nearest_rows, places_of_best
from ragchat.index.postings import build_postings
from ragchat.index.segment import Mask, Part, Quantized, Segment, quantize, rounding_error


def unit(rows: Matrix) -> Matrix:
    result: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return result


def clustered(chance: np.random.Generator, count: int, dimensions: int, spread: float) -> Matrix:
    centres = chance.standard_normal((max(1, count // 20), dimensions))
    rows = centres[chance.integers(0, len(centres), count)] + spread * chance.standard_normal(
        (count, dimensions)
    )
    rows[chance.integers(0, count, count // 3)] = rows[0]  # what stands in several notes
    return unit(rows.astype(np.float32))


def segment(vectors: Matrix, first_id: int, *, in_bytes: bool) -> Segment:
    quantized = None
    if in_bytes:
        scale = float(np.abs(vectors).max()) / 127
        quantized = Quantized(quantize(vectors, scale), scale, rounding_error(vectors, scale))
    ids = np.arange(first_id, first_id + len(vectors))
    return Segment(ids, ids, vectors, build_postings([""] * len(vectors)), quantized)


def scanned(vectors: Matrix, question: Vector, limit: int, live: Mask) -> list[tuple[float, int]]:
    """Every row in float64."""
    cosines = exact_cosines(vectors, question)
    pairs = [(cosine, row) for row, cosine in enumerate(cosines.tolist()) if live[row]]
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:limit]


@pytest.mark.parametrize("in_bytes", [False, True])
@given(
    st.integers(0, 2**32),
    st.integers(1, 900),
    st.sampled_from([2, 16, 384]),
    st.sampled_from([0.001, 0.05, 0.5]),
    st.integers(0, 60),
    st.integers(0, 2),
)
def test_the_nearest_are_those_of_an_exact_scan(
    in_bytes: bool, seed: int, count: int, dimensions: int, spread: float, limit: int, dead: int
) -> None:
    chance = np.random.default_rng(seed)
    vectors = clustered(chance, count, dimensions, spread)
    question = unit(vectors[:1] + 0.3 * spread * chance.standard_normal((1, dimensions)).astype(np.float32))[
        0
    ]
    live = chance.random(count) >= (0.0, 0.4, 1.0)[dead]
    cut = int(chance.integers(0, count + 1))
    parts = [
        Part(
            segment(vectors[:cut], 0, in_bytes=in_bytes and cut > 0), None if live[:cut].all() else live[:cut]
        ),
        Part(segment(vectors[cut:], cut, in_bytes=False), None if live[cut:].all() else live[cut:]),
    ]
    found = nearest_rows(parts, question, limit, [part.mask for part in parts])
    assert found == scanned(vectors, question, limit, live)


def test_bytes_are_used_where_they_pay() -> None:
    pytest.importorskip("numkong")
    chance = np.random.default_rng(5)
    vectors = clustered(chance, 3000, 384, 0.5)
    part = Part(segment(vectors, 0, in_bytes=True))
    scan = dense._byte_scan()
    assert scan is not None
    assert part.segment.quantized is not None
    found = dense._by_bytes(part.segment, part.segment.quantized, scan, vectors[1], 10, None, -np.inf)
    assert found is not None
    assert len(found[0]) < 3000 // 16
    np.testing.assert_array_equal(
        scan(part.segment.quantized.codes, quantize(vectors[1:2], 0.002)),
        part.segment.quantized.codes.astype(np.int64) @ quantize(vectors[1:2], 0.002)[0],
    )


def test_without_numkong_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(np.random.default_rng(6), 500, 32, 0.5)
    part = Part(segment(vectors, 0, in_bytes=True))
    with_it = nearest_rows([part], vectors[3], 20, [None])
    monkeypatch.setattr(dense, "_byte_scan", lambda: None)
    assert nearest_rows([part], vectors[3], 20, [None]) == with_it


def test_several_threads_find_what_one_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = clustered(np.random.default_rng(7), 777, 32, 0.5)
    part = Part(segment(vectors, 0, in_bytes=True))
    alone = nearest_rows([part], vectors[3], 20, [None])
    monkeypatch.setattr(dense, "_ROWS_A_THREAD", 300)
    monkeypatch.setattr(dense, "_threads", lambda: 2)
    assert nearest_rows([part], vectors[3], 20, [None]) == alone


@given(st.lists(st.floats(-1, 1, width=32), max_size=400), st.integers(1, 30), st.floats(0, 0.2))
def test_places_of_the_best_leave_none_out(values: list[float], limit: int, slack: float) -> None:
    array = np.repeat(np.array(values, dtype=np.float32), 3)
    places = places_of_best(array, limit, slack)
    least = sorted(array.tolist(), reverse=True)[:limit][-1:] or [0.0]
    assert set(np.flatnonzero(array >= least[0] - slack)) <= set(places.tolist())
