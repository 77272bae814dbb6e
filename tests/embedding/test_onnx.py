from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragchat.embedding.embedder import Matrix, TokenVectors
from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.registry import open_embedder
from ragchat.embedding.threads import worker_count
from ragchat.embedding.vectors import assert_unit
from ragchat.settings import EmbeddingSettings
from tests.embedding.conftest import Race

TEXTS = (
    "",
    "The lease ends on 31 March 2027.",
    "The tenancy is over at the end of March 2027.",
    "Boil the pasta for nine minutes in salted water.",
    "賃貸契約は2027年3月31日に終了します。",
    "Договор аренды заканчивается 31 марта.",
    "def f(x):\n\treturn x ** 2  # E1234",
    "\x1b[2J\x00\x07 escape, nul and bell",
    "a lone surrogate \udcff from a file name",
    "👩‍👩‍👧 e\u0301 \u200b\ufeff",
    "long " * 200,
)


def test_related_texts_are_nearer_than_unrelated_ones(embedder: OnnxEmbedder) -> None:
    question = embedder.embed_question("When does the lease end?")
    distances = 1 - embedder.embed_passages(TEXTS[1:4]) @ question
    assert max(distances[:2]) < 0.5 < 0.9 < distances[2]


def test_every_vector_has_length_one(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    assert_unit(vectors, model="built-in")


def test_a_text_alone_and_in_a_batch_is_the_same_vector(embedder: OnnxEmbedder) -> None:
    together = embedder.embed_passages(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert float(embedder.embed_question(text) @ vector) >= 0.99999
        assert float(embedder.embed_passages([text])[0] @ vector) >= 0.99999


NUMBERED = [f"{'word ' * (n * 4)}number {n}" for n in range(8)]


@pytest.fixture(scope="module")
def numbered_vectors(embedder: OnnxEmbedder) -> Matrix:
    return np.stack([embedder.embed_question(text) for text in NUMBERED])


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(8)))
def test_vectors_come_in_the_order_of_the_texts(
    embedder: OnnxEmbedder, numbered_vectors: Matrix, order: list[int]
) -> None:
    found = embedder.embed_passages([NUMBERED[at] for at in order])
    assert np.min(np.sum(found * numbered_vectors[order], axis=1)) >= 0.99999


def test_no_text_gives_no_vector(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)


def test_one_thread_and_three_give_the_same(opened: Callable[[EmbeddingSettings], OnnxEmbedder]) -> None:
    texts = [f"{'note ' * (n % 90)}{n}" for n in range(0, 90, 3)]
    one, three = (opened(EmbeddingSettings(threads=n)).embed_passages(texts) for n in (1, 3))
    assert np.array_equal(one, three)


def test_it_can_be_asked_from_many_threads(embedder: OnnxEmbedder) -> None:
    expected = [embedder.embed_question(text) for text in TEXTS]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(3):
            found = list(pool.map(embedder.embed_question, TEXTS))
            assert all(np.array_equal(a, b) for a, b in zip(expected, found, strict=True))
            counts = list(pool.map(embedder.count_tokens, TEXTS))
            assert counts == [embedder.count_tokens(text) for text in TEXTS]


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 2), ("hello", 3), ("the cat sat", 5), ("世界", 4), ("word " * 1000, 1002)]
)
def test_tokens_are_counted_whole_with_the_special_ones(
    embedder: OnnxEmbedder, text: str, tokens: int
) -> None:
    assert embedder.count_tokens(text) == tokens


def test_a_passage_fills_the_window_and_not_one_token_more(embedder: OnnxEmbedder) -> None:
    assert embedder.window == embedder.stamp.window == 256
    full = "word " * 254
    assert embedder.count_tokens(full) == 256
    assert embedder.embed_passages([full]).shape == (1, 384)
    with pytest.raises(ValueError, match="text 1 has 257 tokens; the window holds 256"):
        embedder.embed_passages([full, full + "more"])


def test_a_question_over_the_window_hears_its_end_too(embedder: OnnxEmbedder) -> None:
    filler = "I walked along the river and thought about the weather. " * 40
    question = filler + "When does the lease of the flat end, and what is the notice period? " * 20
    vector = embedder.embed_question(question)
    assert_unit(vector[None, :], model="built-in")
    cut = embedder.embed_question(filler[:1000])
    lease = embedder.embed_question("the lease of the flat and its notice period")
    assert float(vector @ lease) > float(cut @ lease) + 0.2


def test_a_question_without_a_space_over_the_window_is_answered(embedder: OnnxEmbedder) -> None:
    assert_unit(embedder.embed_question("漢" * 2000)[None, :], model="built-in")
    assert_unit(embedder.embed_question("x" * 100_000)[None, :], model="built-in")


def _cosines(tokens: TokenVectors, text: int, rows: Matrix) -> Matrix:
    stored = tokens.rows(text).astype(np.float32)
    cosines: Matrix = np.sum(stored * rows, axis=1) / np.linalg.norm(stored, axis=1)
    return cosines


def test_every_token_has_a_vector_but_padding_and_special_ones(embedder: OnnxEmbedder) -> None:
    vectors, tokens = embedder.embed_passages_with_tokens(TEXTS)
    np.testing.assert_array_equal(vectors, embedder.embed_passages(TEXTS))
    assert embedder.token_dimensions == 128
    assert tokens.data.dtype == np.int8
    assert tokens.data.shape == (tokens.offsets[-1], 128)
    own = [embedder.count_tokens(text) - 2 for text in TEXTS]
    assert TEXTS[0] == ""
    assert np.diff(tokens.offsets).tolist() == [2, *own[1:]]


def test_token_vectors_of_a_question_are_those_of_the_same_passage(embedder: OnnxEmbedder) -> None:
    _, tokens = embedder.embed_passages_with_tokens(TEXTS)
    for at, text in enumerate(TEXTS):
        vector, rows = embedder.embed_question_with_tokens(text)
        np.testing.assert_array_equal(vector, embedder.embed_question(text))
        assert_unit(rows, model="built-in")
        assert rows.dtype == np.float32
        assert np.min(_cosines(tokens, at, rows)) >= 0.999


def test_a_question_over_the_window_has_the_tokens_of_all_its_pieces(embedder: OnnxEmbedder) -> None:
    question = "When does the lease of the flat end? " * 60
    vector, rows = embedder.embed_question_with_tokens(question)
    np.testing.assert_array_equal(vector, embedder.embed_question(question))
    assert len(rows) == embedder.count_tokens(question) - 2


def test_token_vectors_of_no_text_have_a_shape(embedder: OnnxEmbedder) -> None:
    vectors, tokens = embedder.embed_passages_with_tokens([])
    assert (vectors.shape, tokens.data.shape, tokens.offsets.tolist()) == ((0, 384), (0, 128), [0])


def test_the_same_word_is_nearest_to_itself_among_the_tokens(embedder: OnnxEmbedder) -> None:
    """What late interaction lives on."""
    _, question = embedder.embed_question_with_tokens("lease")
    _, tokens = embedder.embed_passages_with_tokens(["boil the pasta until the lease is signed"])
    rows = tokens.rows(0).astype(np.float32)
    cosines = rows @ question[0] / np.linalg.norm(rows, axis=1)
    assert int(np.argmax(cosines)) == 5


def test_prompts_go_before_the_texts_and_into_the_stamp(
    opened: Callable[[EmbeddingSettings], OnnxEmbedder], embedder: OnnxEmbedder
) -> None:
    prompted = opened(EmbeddingSettings(question_prompt="query: ", passage_prompt="passage: "))
    assert np.array_equal(prompted.embed_question("lease"), embedder.embed_question("query: lease"))
    assert np.array_equal(prompted.embed_passages(["lease"]), embedder.embed_passages(["passage: lease"]))
    assert prompted.count_tokens("lease") == embedder.count_tokens("passage: lease")
    assert prompted.stamp != embedder.stamp
    with pytest.raises(ValueError, match="257 tokens"):
        prompted.embed_passages(["word " * 253])


def test_token_vectors_are_the_texts_own_not_the_prompts(
    opened: Callable[[EmbeddingSettings], OnnxEmbedder], embedder: OnnxEmbedder
) -> None:
    prompted = opened(EmbeddingSettings(question_prompt="query: ", passage_prompt="passage: "))
    _, whole = embedder.embed_passages_with_tokens(["passage: the lease", "passage: "])
    _, own = prompted.embed_passages_with_tokens(["the lease", ""])
    np.testing.assert_array_equal(own.rows(0), whole.rows(0)[2:])
    assert len(own.rows(1)) > 0
    _, rows = prompted.embed_question_with_tokens("the lease")
    np.testing.assert_array_equal(rows, embedder.embed_question_with_tokens("query: the lease")[1][2:])


def test_a_long_prompted_question_has_the_prompt_on_every_piece(
    opened: Callable[[EmbeddingSettings], OnnxEmbedder],
) -> None:
    prompted = opened(EmbeddingSettings(question_prompt="a question about gardening: "))
    assert_unit(prompted.embed_question("tulips and roses " * 500)[None, :], model="built-in")


def test_packed_weights_give_the_same_vectors(race: Race) -> None:
    """A question is asked before anything large is embedded, and again after."""
    embedder = open_embedder(EmbeddingSettings(), ollama_host="", cache=race.cache)
    before = [embedder.embed_question(text) for text in TEXTS]
    embedder.embed_passages(["word " * 250] * 6)
    after = [embedder.embed_question(text) for text in TEXTS]
    assert min(float(a @ b) for a, b in zip(before, after, strict=True)) > 0.999999


def test_one_core_is_left_to_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, workers in ((1, 1), (2, 1), (8, 7)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)), raising=False)
        assert worker_count(0) == workers
        assert worker_count(5) == 5
