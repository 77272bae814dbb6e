from __future__ import annotations

from dataclasses import replace

import numpy as np

from ragchat.embedding.without_tokens import WithoutTokens
from tests.doubles import WordEmbedder


def test_only_the_token_vectors_are_left_out() -> None:
    embedder = WordEmbedder()
    without = WithoutTokens(embedder)
    assert without.stamp == replace(embedder.stamp, token_vectors="")
    assert without.stamp != embedder.stamp
    assert (without.token_dimensions, without.window) == (0, embedder.window)
    vectors, tokens = without.embed_passages_with_tokens(["one thing", "another"])
    assert np.array_equal(vectors, embedder.embed_passages(["one thing", "another"]))
    assert (tokens.offsets.tolist(), tokens.data.shape) == ([0, 0, 0], (0, 0))
    vector, rows = without.embed_question_with_tokens("one thing")
    assert np.array_equal(vector, embedder.embed_question("one thing"))
    assert rows.shape == (0, 0)
