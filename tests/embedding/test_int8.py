"""The export takes a quarter of a minute: once for all tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ragchat.embedding.onnx import OnnxEmbedder
from ragchat.embedding.vectors import assert_unit
from ragchat.settings import EmbeddingSettings
from tests.embedding.test_onnx import TEXTS

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def rounded(opened: Callable[[EmbeddingSettings], OnnxEmbedder]) -> OnnxEmbedder:
    return opened(EmbeddingSettings(precision="int8"))


def test_vectors_are_nearly_those_of_the_exact_model(rounded: OnnxEmbedder, embedder: OnnxEmbedder) -> None:
    found, expected = rounded.embed_passages(TEXTS), embedder.embed_passages(TEXTS)
    assert_unit(found, model="int8")
    cosines = np.sum(found * expected, axis=1)
    assert 0.95 <= np.min(cosines) < 0.9999


def test_a_text_has_one_vector_whatever_stands_beside_it(rounded: OnnxEmbedder) -> None:
    """One scale rounds all of a batch, so that no text may share one."""
    together, tokens = rounded.embed_passages_with_tokens(TEXTS)
    for at, text in enumerate(TEXTS):
        vector, same = rounded.embed_passages_with_tokens([text])
        np.testing.assert_array_equal(vector[0], together[at])
        np.testing.assert_array_equal(same.rows(0), tokens.rows(at))
        np.testing.assert_array_equal(rounded.embed_question(text), together[at])


def test_the_two_precisions_are_two_stamps(rounded: OnnxEmbedder, embedder: OnnxEmbedder) -> None:
    assert rounded.stamp != embedder.stamp
    assert rounded.stamp.token_vectors == embedder.stamp.token_vectors
